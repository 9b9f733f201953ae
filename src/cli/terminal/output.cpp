#include "cli/terminal/output.hpp"

#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace gantry::cli {
namespace {

constexpr std::size_t kFlushAt = 64 * 1024;

/// Holds SIGPIPE off while it lives. Ignoring the signal for good would be inherited by every task.
class SigpipeHeldOff {
 public:
  SigpipeHeldOff() {
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    sigset_t pending;
    sigpending(&pending);
    was_pending_ = sigismember(&pending, SIGPIPE) == 1;
    pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  ~SigpipeHeldOff() {
    const timespec at_once{};
    if (!was_pending_)
      while (sigtimedwait(&pipe_, nullptr, &at_once) == -1 && errno == EINTR) continue;
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  SigpipeHeldOff(const SigpipeHeldOff&) = delete;
  SigpipeHeldOff& operator=(const SigpipeHeldOff&) = delete;

 private:
  sigset_t pipe_{};
  sigset_t before_{};
  bool was_pending_ = false;
};

/// Ctrl-C, for whoever holds it off (driver::drive() does) and cannot take it while we wait.
bool stop_is_pending() {
  sigset_t pending;
  sigpending(&pending);
  return sigismember(&pending, SIGINT) == 1 || sigismember(&pending, SIGTERM) == 1;
}

}  // namespace

void Output::write(std::string_view text) {
  buffer_ += text;
  settle();
}

void Output::line(std::string_view text) {
  buffer_ += text;
  buffer_ += '\n';
  settle();
}

void Output::settle() {
  if (buffer_.size() >= kFlushAt) flush();
}

/// Waits until the reader takes more. False when a person wants us to stop and it takes nothing for
/// a while.
bool Output::await_reader() const {
  constexpr int kLookMs = 100;
  constexpr int kPatience = 10;  // looks
  for (int looks = 0; looks < kPatience;) {
    pollfd ready{fd_, POLLOUT, 0};
    const int n = ::poll(&ready, 1, kLookMs);
    if (n > 0 || (n < 0 && errno != EINTR)) return true;  // an error shows when we write
    looks = stop_is_pending() ? looks + 1 : 0;
  }
  return false;
}

void Output::flush() {
  // A pipe that has room at all takes this much without blocking, so that we wait in poll() only.
  constexpr std::size_t kPiece = PIPE_BUF;
  std::string_view rest = buffer_;
  if (!rest.empty() && !closed_ && status_) {
    const SigpipeHeldOff held_off;
    while (!rest.empty()) {
      if (!await_reader()) {
        closed_ = true;
        status_ = fail(ErrorCode::io, "nobody reads the output: the rest was not printed",
                       "'gantry log' prints what tasks printed");
        break;
      }
      const ssize_t written = ::write(fd_, rest.data(), std::min(rest.size(), kPiece));
      if (written >= 0) {
        rest.remove_prefix(static_cast<std::size_t>(written));
      } else if (errno == EPIPE) {
        closed_ = true;
        break;
      } else if (errno != EINTR && errno != EAGAIN) {
        status_ = fail_errno("cannot write output");
        break;
      }
    }
  }
  buffer_.clear();
}

}  // namespace gantry::cli
