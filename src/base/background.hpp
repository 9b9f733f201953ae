#pragma once
/// Work in a thread of its own, for whoever has a terminal and signals to look after meanwhile.

#include <functional>
#include <stop_token>
#include <thread>

#include "base/fd.hpp"

namespace gantry {

class Background {
 public:
  /// Begins at once. `work` is asked to stop, and waited for, when this ends.
  static Result<Background> start(std::function<void(const std::stop_token&)> work);

  /// Becomes readable when the work is done.
  [[nodiscard]] int done_fd() const { return done_.get(); }
  void request_stop() { thread_.request_stop(); }
  /// Waits for the work's end: what it wrote can be read now.
  void join() { thread_.join(); }

 private:
  Background(UniqueFd done, std::jthread thread)
      : done_(std::move(done)), thread_(std::move(thread)) {}

  UniqueFd done_;
  std::jthread thread_;  ///< after done_, which it writes to: it ends first
};

}  // namespace gantry
