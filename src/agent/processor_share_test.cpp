#include "agent/processor_share.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <thread>

namespace gantry::agent {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t kSecond = 1'000'000'000;

std::optional<std::uint32_t> progress(std::initializer_list<TaskTimes> tasks) {
  ProgressSum sum;
  for (const TaskTimes& task : tasks) sum.add(task);
  return sum.permille();
}

TEST(ProcessorShare, ReadsWhatTheKernelTellsOfAThread) {
  const auto times = parse_schedstat("123 45 6\n");
  ASSERT_TRUE(times);
  EXPECT_EQ(times->ran, 123U);
  EXPECT_EQ(times->waited, 45U);
  for (const char* text : {"", "1", "1 ", "x 1", "1 x", "-1 2 3", "99999999999999999999 1 1"})
    EXPECT_FALSE(parse_schedstat(text)) << text;
}

TEST(ProcessorShare, IsWhatATaskGotOfTheTimeThatItWanted) {
  EXPECT_EQ(progress({{3s, {3 * kSecond, 0}}}), 1000U);
  EXPECT_EQ(progress({{3s, {1 * kSecond, 2 * kSecond}}}), 333U);
  // Two tasks that have half a processor each.
  EXPECT_EQ(progress({{3s, {kSecond, 2 * kSecond}}, {3s, {2 * kSecond, kSecond}}}), 500U);
  // Four threads, of which one runs at a time.
  EXPECT_EQ(progress({{3s, {3 * kSecond, 9 * kSecond}}}), 250U);
}

TEST(ProcessorShare, WhileATaskSleepsNothingHoldsItUp) {
  // It sleeps for two of four seconds, and gets one second where it wanted two.
  EXPECT_EQ(progress({{4s, {kSecond, kSecond}}}), 750U);
}

TEST(ProcessorShare, NothingIsSaidOfTasksThatHardlyCompute) {
  EXPECT_FALSE(progress({}));
  EXPECT_FALSE(progress({{3s, {0, 0}}}));
  EXPECT_FALSE(progress({{3s, {kSecond / 100, kSecond / 100}}}));
  EXPECT_FALSE(progress({{100s, {kSecond, kSecond}}})) << "mostly it sleeps";
  EXPECT_FALSE(progress({{50ms, {kSecond / 20, 0}}})) << "too short to tell";
  EXPECT_FALSE(progress({{0s, {kSecond, kSecond}}}));
  EXPECT_FALSE(progress({{-5s, {kSecond, kSecond}}})) << "a clock that was set";
}

/// A shepherd whose one child computes, or sleeps, until the pipe is closed at the other end.
pid_t shepherd_of(bool computes, const std::array<int, 2>& ready, const std::array<int, 2>& end) {
  const pid_t pid = ::fork();
  if (pid != 0) return pid;
  ::close(end[1]);
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(300);
    [[maybe_unused]] const auto told = ::write(ready[1], "x", 1);
    for (volatile bool always = true; always;)
      if (!computes) ::pause();
  }
  char byte = 0;
  [[maybe_unused]] const auto closed = ::read(end[0], &byte, 1);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  ::_exit(0);
}

TEST(ProcessorShare, LooksAtTheProcessesOfATask) {
  std::array<int, 2> ready{};
  std::array<int, 2> end{};
  ASSERT_EQ(::pipe(ready.data()), 0);
  ASSERT_EQ(::pipe(end.data()), 0);
  const pid_t works = shepherd_of(true, ready, end);
  const pid_t sleeps = shepherd_of(false, ready, end);
  char byte = 0;
  for (int i = 0; i < 2; ++i) ASSERT_EQ(::read(ready[0], &byte, 1), 1);

  ProcessorShare share;
  const auto began = ProcessorShare::Clock::now();
  EXPECT_FALSE(share.look(std::array{ProcessorShare::Watched{sleeps, 10s}}, began));
  std::optional<std::uint32_t> told;
  // A machine that is busy may let it wait for a while; then it has waited.
  for (int i = 0; i < 100 && !told; ++i) {
    std::this_thread::sleep_for(300ms);
    const auto now = ProcessorShare::Clock::now();
    told = share.look(std::array{ProcessorShare::Watched{works, now - began}}, now);
  }
  EXPECT_TRUE(told && *told <= 1000U);
  EXPECT_FALSE(
      share.look(std::array{ProcessorShare::Watched{1 << 30, 10s}}, ProcessorShare::Clock::now()))
      << "there is no such process";
  ::close(end[1]);
  for (const pid_t pid : {works, sleeps}) ::waitpid(pid, nullptr, 0);
  for (const int fd : {ready[0], ready[1], end[0]}) ::close(fd);
}

}  // namespace
}  // namespace gantry::agent
