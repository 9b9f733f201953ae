#include "cli/commands/watched_work.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <thread>

#include "base/fd.hpp"
#include "base/parallel.hpp"

namespace gantry::cli {
namespace {

struct WatchedWorkTest : ::testing::Test {
  UniqueFd fd_{::memfd_create("stderr", MFD_CLOEXEC)};
  Output out_{fd_.get()};
  RealClock clock_;
  Context context_{out_, out_, Terminal{.stderr_is_tty = true}, {}, clock_};
};

TEST_F(WatchedWorkTest, CountsStepsThatEndOnSeveralThreads) {
  std::vector<int> made(500);
  const auto stopped =
      watch_work(context_, {.name = "trials",
                            .steps = made.size(),
                            .run = [&](const std::stop_token&, const auto& step) -> Result<> {
                              in_parallel(made.size(), 4, [&](std::size_t i) {
                                made[i] = static_cast<int>(i);
                                step();
                                return true;
                              });
                              return {};
                            }});
  ASSERT_TRUE(stopped);
  EXPECT_FALSE(*stopped);
  for (std::size_t i = 0; i < made.size(); ++i) EXPECT_EQ(made[i], static_cast<int>(i));
}

TEST_F(WatchedWorkTest, PassesAFailureOn) {
  const auto stopped = watch_work(
      context_, {.name = "trials", .steps = 1, .run = [](const auto&, const auto&) -> Result<> {
                   return fail(ErrorCode::usage, "the third trial is odd");
                 }});
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().message, "the third trial is odd");
}

TEST_F(WatchedWorkTest, AnInterruptLetsTheCurrentStepsEnd) {
  const auto stopped = watch_work(
      context_,
      {.name = "trials", .steps = 3, .run = [](const auto& stop, const auto& step) -> Result<> {
         step();
         ::kill(::getpid(), SIGINT);
         while (!stop.stop_requested()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
         step();
         return {};
       }});
  ASSERT_TRUE(stopped);
  EXPECT_TRUE(*stopped);
}

}  // namespace
}  // namespace gantry::cli
