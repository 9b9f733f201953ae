#include "agent/poller.hpp"

#include <sys/epoll.h>

#include <cerrno>

namespace gantry::agent {

namespace {

int control(int epoll, int operation, int fd, std::uint32_t events, std::uint64_t token) {
  epoll_event event{};
  event.events = events;
  event.data.u64 = token;
  return ::epoll_ctl(epoll, operation, fd, &event);
}

}  // namespace

Result<Poller> Poller::create() {
  Poller poller;
  poller.epoll_.reset(::epoll_create1(EPOLL_CLOEXEC));
  if (!poller.epoll_) return fail_errno("epoll");
  return poller;
}

Result<> Poller::add(int fd, std::uint64_t token) {
  if (control(epoll_.get(), EPOLL_CTL_ADD, fd, EPOLLIN, token) != 0) return fail_errno("epoll_ctl");
  return {};
}

Result<> Poller::rename(int fd, std::uint64_t token) {
  if (control(epoll_.get(), EPOLL_CTL_MOD, fd, EPOLLIN, token) != 0) return fail_errno("epoll_ctl");
  return {};
}

void Poller::send(FrameStream& stream, std::uint64_t token) {
  stream.send();
  if (stream.wants_to_send() == stream.send_watched) return;
  stream.send_watched = stream.wants_to_send();
  control(epoll_.get(), EPOLL_CTL_MOD, stream.fd(),
          stream.send_watched ? std::uint32_t{EPOLLIN} | EPOLLOUT : std::uint32_t{EPOLLIN}, token);
}

Result<> Poller::wait(std::chrono::milliseconds timeout, std::vector<std::uint64_t>& tokens) {
  tokens.clear();
  epoll_event events[64];
  const int n = ::epoll_wait(epoll_.get(), events, 64, static_cast<int>(timeout.count()));
  if (n < 0 && errno != EINTR) return fail_errno("epoll_wait");
  for (int i = 0; i < n; ++i) tokens.push_back(events[i].data.u64);
  return {};
}

}  // namespace gantry::agent
