// A slot that works through short tasks has its next one at hand. That must never show: tasks do
// not wait behind long ones, are not lost and do not run twice.
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "actuate/launch/local/launcher_fixture.hpp"

namespace gantry {
namespace {

class LauncherAheadTest : public LauncherTest {
 protected:
  static constexpr unsigned kLong1 = 11;  ///< by then both slots have had short ones
  static constexpr unsigned kLong2 = 12;
  static constexpr unsigned kLast = 300;

  /// Short ones, two that last until let_go(), and more short ones than end before those begin.
  void start_them() {
    for (unsigned n = 1; n <= kLast; ++n) start(n, is_long(n) ? long_task(n) : short_task(n));
  }
  static bool is_long(unsigned n) { return n == kLong1 || n == kLong2; }
  Task short_task(unsigned n) { return sh("echo " + std::to_string(n) + " >> ran"); }
  Task long_task(unsigned n) {
    const std::string name = std::to_string(n);
    return sh("echo " + name + " >> ran; echo $PPID > tmp-" + name + "; mv tmp-" + name + " slot-" +
              name + "; while [ ! -e go ]; do sleep 0.01; done");
  }
  bool await_long_ones() { return await_file("slot-11") && await_file("slot-12"); }
  void let_go() { std::ofstream(dir_ / "go"); }
  bool await_reports(unsigned from, unsigned to) {
    return poll_until([&] {
      for (unsigned n = from; n <= to; ++n)
        if (!reports_.contains(n)) return false;
      return true;
    });
  }
  /// The tasks that ran, as often as they ran, in order of their numbers.
  std::vector<unsigned> ran() {
    std::istringstream text(read_file(dir_ / "ran").value_or(""));
    std::vector<unsigned> numbers;
    for (unsigned n = 0; text >> n;) numbers.push_back(n);
    std::sort(numbers.begin(), numbers.end());
    return numbers;
  }
  std::vector<unsigned> succeeded() {
    std::vector<unsigned> numbers;
    for (const auto& [n, received] : reports_)
      if (received.report.cause == FailureCause::none) numbers.push_back(n);
    return numbers;
  }
  static std::vector<unsigned> up_to(unsigned last) {
    std::vector<unsigned> numbers;
    for (unsigned n = 1; n <= last; ++n) numbers.push_back(n);
    return numbers;
  }
};

TEST_F(LauncherAheadTest, NothingWaitsBehindALongTask) {
  open();
  for (unsigned n = 1; n <= kLast; ++n) start(n, n == kLong1 ? long_task(n) : short_task(n));
  EXPECT_TRUE(await_reports(1, kLong1 - 1));
  EXPECT_TRUE(await_reports(kLong1 + 1, kLast));
  EXPECT_FALSE(reports_.contains(kLong1));
  let_go();
  EXPECT_EQ(await_report(kLong1).cause, FailureCause::none);
  EXPECT_EQ(ran(), up_to(kLast));
}

TEST_F(LauncherAheadTest, WhatIsAtHandCanBeCancelled) {
  open();
  start_them();
  ASSERT_TRUE(await_long_ones());
  for (unsigned n = kLong2 + 1; n <= kLast; ++n) launcher_->cancel(key(n), kHost);
  EXPECT_TRUE(await_reports(kLong2 + 1, kLast));  // while the long ones still run
  EXPECT_EQ(reports_[kLast].report.cause, FailureCause::cancelled);
  let_go();
  EXPECT_TRUE(await_reports(1, kLast));
  EXPECT_EQ(ran(), succeeded());
}

TEST_F(LauncherAheadTest, WhatIsAtHandIsGivenBackOnRecall) {
  open();
  start_them();
  ASSERT_TRUE(await_long_ones());
  launcher_->recall(kHost, {});
  EXPECT_TRUE(poll_until([&] { return returned_.size() + reports_.size() == kLast - 2; }));
  EXPECT_TRUE(returned_.contains(kLast));
  let_go();
  EXPECT_TRUE(await_reports(kLong1, kLong2));
  EXPECT_EQ(returned_.size() + reports_.size(), kLast);
  EXPECT_EQ(ran(), succeeded());
}

TEST_F(LauncherAheadTest, ASlotThatDiesTakesOnlyTheRunningTaskAlong) {
  open();
  start_them();
  ASSERT_TRUE(await_long_ones());
  ASSERT_EQ(::kill(static_cast<pid_t>(number_in("slot-12")), SIGKILL), 0);
  EXPECT_EQ(await_report(kLong2).cause, FailureCause::lost);
  EXPECT_TRUE(await_reports(kLong2 + 1, kLast));
  let_go();
  EXPECT_TRUE(await_reports(kLong1, kLong1));
  EXPECT_EQ(ran(), up_to(kLast));
}

TEST_F(LauncherAheadTest, ASlotThatDiesAmongShortTasksLosesNoneThatItHadDone) {
  open();
  constexpr unsigned kTeller = 150;
  for (unsigned n = 1; n <= kLast; ++n) {
    const std::string tell = n == kTeller ? "; echo $PPID > tmp; mv tmp slot" : "";
    start(n, sh("echo " + std::to_string(n) + " >> ran" + tell));
  }
  ASSERT_TRUE(await_file("slot"));
  ASSERT_EQ(::kill(static_cast<pid_t>(number_in("slot")), SIGKILL), 0);
  EXPECT_TRUE(await_reports(1, kLast));
  // One was on its way. What its slot had reported to nobody yet is in the slot's log, and what it
  // had at hand begins elsewhere.
  const std::size_t lost = kLast - succeeded().size();
  EXPECT_LE(lost, 1U);
  for (const unsigned n : succeeded()) EXPECT_EQ(std::ranges::count(ran(), n), 1) << n;
  EXPECT_GE(ran().size(), kLast - lost);
  EXPECT_LE(ran().size(), kLast);
}

TEST_F(LauncherAheadTest, TheNextGantryIsToldOfWhatIsAtHand) {
  open();
  start_them();
  ASSERT_TRUE(await_long_ones());
  abandon();
  open();
  EXPECT_TRUE(poll_until([&] { return running_.contains(kLong1) && running_.contains(kLong2); }));
  // What it is not told of, it hands over again.
  for (unsigned n = kLong2 + 1; n <= kLast; ++n)
    if (!running_.contains(n) && !reports_.contains(n)) start(n, short_task(n));
  let_go();
  EXPECT_TRUE(await_reports(1, kLast));
  EXPECT_EQ(ran(), up_to(kLast));
}

}  // namespace
}  // namespace gantry
