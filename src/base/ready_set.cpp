#include "base/ready_set.hpp"

#include <sys/epoll.h>

#include <cerrno>

namespace gantry {

ReadySet::ReadySet() : epoll_(::epoll_create1(EPOLL_CLOEXEC)) {}

void ReadySet::watch(const std::vector<Wanted>& wanted) {
  std::set<int> now;
  for (const auto& [fd, to_send] : wanted) {
    if (fd < 0) continue;
    now.insert(fd);
    epoll_event event{};
    event.events = to_send ? EPOLLIN | EPOLLOUT : EPOLLIN;
    event.data.fd = fd;
    if (::epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, fd, &event) != 0 && errno == ENOENT)
      ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event);
  }
  for (const int fd : watched_)
    if (!now.contains(fd)) ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr);
  watched_ = std::move(now);
}

}  // namespace gantry
