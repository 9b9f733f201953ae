#include "actuate/move/site_link.hpp"

#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

namespace gantry {

namespace {

void add_to(int epoll, int fd) {
  epoll_event event{};
  event.events = EPOLLIN;
  ::epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event);
}

void set_timer(int timer, Duration in) {
  itimerspec when{};  // zero: never
  if (in > Duration::zero()) {
    when.it_value.tv_sec = in.count() / 1'000'000'000;
    when.it_value.tv_nsec = in.count() % 1'000'000'000;
  }
  ::timerfd_settime(timer, 0, &when, nullptr);
}

}  // namespace

SiteLink::SiteLink(ConnectSite connect, Duration first_pause, Duration longest_pause)
    : connect_(std::move(connect)),
      first_pause_(first_pause),
      longest_pause_(longest_pause),
      pause_(first_pause),
      epoll_(::epoll_create1(EPOLL_CLOEXEC)),
      timer_(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK)) {
  add_to(epoll_.get(), timer_.get());
  set_timer(timer_.get(), Duration(1));  // the first attempt is due
}

bool SiteLink::connect_if_due(TimePoint now) {
  if (is_up() || now < retry_at_) return false;
  if (down_since_ == kNever) down_since_ = now;
  auto socket = connect_();
  if (!socket) {
    lost(now, socket.error().message);
    return false;
  }
  stream_ = agent::FrameStream(std::move(*socket));
  add_to(epoll_.get(), stream_.fd());
  watching_sends_ = false;
  return true;
}

void SiteLink::answered() {
  pause_ = first_pause_;
  has_answered_ = true;
}

void SiteLink::lost(TimePoint now, std::string why) {
  stream_.close();
  why_ = std::move(why);
  if (std::exchange(has_answered_, false)) down_since_ = now;
  retry_at_ = now + pause_;
  pause_ = std::min(2 * pause_, longest_pause_);
}

void SiteLink::close() {
  stream_.close();
  set_timer(timer_.get(), Duration::zero());
}

void SiteLink::watch(TimePoint now, bool to_send, bool to_come) {
  if (!is_up()) {
    timer_is_set_ = to_come;
    set_timer(timer_.get(), to_come ? std::max(retry_at_ - now, Duration(1)) : Duration::zero());
    return;
  }
  if (std::exchange(timer_is_set_, false)) set_timer(timer_.get(), Duration::zero());
  if (to_send == watching_sends_) return;
  epoll_event event{};
  event.events = to_send ? EPOLLIN | EPOLLOUT : EPOLLIN;
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, stream_.fd(), &event);
  watching_sends_ = to_send;
}

}  // namespace gantry
