#pragma once
/// Waits for many sockets at once (epoll); each has a token by which it is known. One thread.

#include <chrono>
#include <cstdint>
#include <vector>

#include "agent/frame_stream.hpp"
#include "base/fd.hpp"
#include "base/result.hpp"

namespace gantry::agent {

class Poller {
 public:
  static Result<Poller> create();

  /// Watches for something to read, until `fd` is closed.
  Result<> add(int fd, std::uint64_t token);
  /// From now on it is known by another token.
  Result<> rename(int fd, std::uint64_t token);
  /// Sends what the stream holds; while something is left, also watches for room to send.
  void send(FrameStream& stream, std::uint64_t token);

  /// The tokens of what can be read or sent; waits for ever when `timeout` is negative. Empty after
  /// the timeout or a signal.
  Result<> wait(std::chrono::milliseconds timeout, std::vector<std::uint64_t>& tokens);

 private:
  UniqueFd epoll_;
};

}  // namespace gantry::agent
