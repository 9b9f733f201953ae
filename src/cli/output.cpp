#include "cli/output.hpp"

#include <poll.h>
#include <signal.h>
#include <unistd.h>

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

void Output::flush() {
  std::string_view rest = buffer_;
  if (!rest.empty() && !closed_ && status_) {
    const SigpipeHeldOff held_off;
    while (!rest.empty()) {
      const ssize_t written = ::write(fd_, rest.data(), rest.size());
      if (written >= 0) {
        rest.remove_prefix(static_cast<std::size_t>(written));
      } else if (errno == EAGAIN) {
        pollfd ready{fd_, POLLOUT, 0};  // somebody made our terminal non-blocking
        ::poll(&ready, 1, 1000);
      } else if (errno == EPIPE) {
        closed_ = true;
        break;
      } else if (errno != EINTR) {
        status_ = fail_errno("cannot write output");
        break;
      }
    }
  }
  buffer_.clear();
}

}  // namespace gantry::cli
