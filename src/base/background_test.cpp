#include "base/background.hpp"

#include <gtest/gtest.h>
#include <poll.h>

namespace gantry {
namespace {

bool is_done(const Background& work, int patience_ms) {
  pollfd fd{work.done_fd(), POLLIN, 0};
  return ::poll(&fd, 1, patience_ms) == 1;
}

TEST(Background, TellsWhenItIsDone) {
  int made = 0;
  auto work = Background::start([&](const std::stop_token&) { made = 42; }).value();
  EXPECT_TRUE(is_done(work, 60'000));
  work.join();
  EXPECT_EQ(made, 42);
}

TEST(Background, GoesOnUntilItIsAskedToStop) {
  auto work = Background::start([](const std::stop_token& stop) {
                while (!stop.stop_requested()) std::this_thread::yield();
              }).value();
  EXPECT_FALSE(is_done(work, 20));
  work.request_stop();
  EXPECT_TRUE(is_done(work, 60'000));
}

TEST(Background, IsStoppedByItsEnd) {
  bool stopped = false;
  {
    const auto work = Background::start([&](const std::stop_token& stop) {
                        while (!stop.stop_requested()) std::this_thread::yield();
                        stopped = true;
                      }).value();
  }
  EXPECT_TRUE(stopped);
}

}  // namespace
}  // namespace gantry
