#include "driver/signals.hpp"

#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

namespace gantry::driver {

Result<StopSignals> StopSignals::watch() {
  StopSignals signals;
  sigset_t stop;
  sigemptyset(&stop);
  sigaddset(&stop, SIGINT);
  sigaddset(&stop, SIGTERM);
  if (::sigprocmask(SIG_BLOCK, &stop, &signals.before_) != 0) return fail_errno("sigprocmask");
  signals.fd_.reset(::signalfd(-1, &stop, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!signals.fd_) return fail_errno("signalfd");
  return signals;
}

StopSignals::StopSignals(StopSignals&& other) noexcept
    : fd_(std::move(other.fd_)), before_(other.before_) {}

StopSignals::~StopSignals() {
  if (fd_) ::sigprocmask(SIG_SETMASK, &before_, nullptr);
}

int StopSignals::take() {
  int count = 0;
  signalfd_siginfo info{};
  while (::read(fd_.get(), &info, sizeof info) == static_cast<ssize_t>(sizeof info)) ++count;
  return count;
}

bool StopSignals::waiting() const {
  pollfd fd{fd_.get(), POLLIN, 0};
  return ::poll(&fd, 1, 0) > 0;
}

}  // namespace gantry::driver
