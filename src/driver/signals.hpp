#pragma once
/// Ctrl-C as something to read: while one of these lives, SIGINT and SIGTERM interrupt nothing and
/// wait in a descriptor instead. Restores the signal mask at the end.

#include <signal.h>

#include "base/fd.hpp"
#include "base/result.hpp"

namespace gantry::driver {

class StopSignals {
 public:
  static Result<StopSignals> watch();
  StopSignals(StopSignals&& other) noexcept;
  StopSignals& operator=(StopSignals&&) = delete;
  ~StopSignals();

  [[nodiscard]] int fd() const { return fd_.get(); }
  /// How many have come since the last call.
  int take();
  /// take() would say more than 0.
  [[nodiscard]] bool waiting() const;

 private:
  StopSignals() = default;
  UniqueFd fd_;
  sigset_t before_{};
};

}  // namespace gantry::driver
