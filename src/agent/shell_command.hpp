#pragma once
/// A command for the login shell of this host, whose output is awaited without waiting. Owned by
/// whoever asks; one at a time.

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>

#include "base/fd.hpp"

namespace gantry::agent {

class ShellCommand {
 public:
  using Clock = std::chrono::steady_clock;
  struct Answer {
    int code = 0;        ///< exit code; -1 when it did not end in time, or could not be started
    std::string output;  ///< and what it wrote to its standard error
  };

  ShellCommand() = default;
  ShellCommand(const ShellCommand&) = delete;
  ShellCommand& operator=(const ShellCommand&) = delete;
  ~ShellCommand();

  /// REQUIRES: !is_busy().
  void start(const std::string& text, Clock::time_point now);
  [[nodiscard]] bool is_busy() const { return busy_; }
  /// The answer, once.
  std::optional<Answer> poll(Clock::time_point now);
  /// Readable when there may be something to poll; -1 when it is not busy.
  [[nodiscard]] int fd() const { return output_.get(); }

 private:
  Answer finish();

  pid_t pid_ = -1;
  UniqueFd output_;
  std::string text_;
  Clock::time_point deadline_{};
  bool busy_ = false;
};

}  // namespace gantry::agent
