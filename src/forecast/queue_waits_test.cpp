#include "forecast/queue_waits.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace gantry::forecast {
namespace {

TimePoint at_second(double second) {
  return TimePoint{} + from_seconds(1000 + second);
}

/// Of 100 s each, one a minute.
QueueWaits steady_queue(int jobs) {
  QueueWaits queue;
  for (int i = 0; i < jobs; ++i) queue.waited(100, at_second(60.0 * i));
  return queue;
}

TEST(QueueWaits, NothingIsExpectedBeforeTheFirstOne) {
  EXPECT_FALSE(QueueWaits().left(0));
}

TEST(QueueWaits, WhatHasWaitedHasLessToWait) {
  const QueueWaits queue = steady_queue(20);
  EXPECT_NEAR(queue.left(0)->expected, 100, 1);
  EXPECT_NEAR(queue.left(70)->expected, 30, 1);
  EXPECT_LE(queue.left(70)->soonest, queue.left(70)->expected);
  EXPECT_GE(queue.left(70)->latest, queue.left(70)->expected);
}

TEST(QueueWaits, WhatIsLateIsNotExpectedAnyMoment) {
  const auto rest = steady_queue(20).left(250);  // 150 s over
  EXPECT_NEAR(rest->expected, 150, 1);
  EXPECT_EQ(rest->soonest, 0);
  EXPECT_NEAR(rest->latest, 300, 2);
}

TEST(QueueWaits, WhatCannotBeIsCountedAndNotKept) {
  QueueWaits queue = steady_queue(20);
  EXPECT_NE(queue.waited(std::numeric_limits<double>::quiet_NaN(), at_second(2000)),
            Verdict::taken);
  EXPECT_NE(queue.waited(-1, at_second(2000)), Verdict::taken);
  EXPECT_NE(queue.waited(1e12, at_second(2000)), Verdict::taken);
  EXPECT_EQ(queue.waited(100, at_second(1)), Verdict::not_later);
  EXPECT_EQ(queue.series().quarantined(), 4U);
  EXPECT_EQ(queue.recent().size(), 20U);
  EXPECT_FALSE(queue.left(-1));
  EXPECT_FALSE(queue.left(std::numeric_limits<double>::quiet_NaN()));
}

TEST(QueueWaits, KeepsTheLastOnes) {
  const QueueWaits queue = steady_queue(1000);
  ASSERT_EQ(queue.recent().size(), QueueWaits::kKept);
  EXPECT_EQ(queue.recent().back().at, at_second(60.0 * 999));
}

TEST(QueueWaits, NextMonthIsNoJumpOfTheClock) {
  QueueWaits queue = steady_queue(20);
  EXPECT_EQ(queue.waited(110, at_second(45 * 24 * 3600.0)), Verdict::taken);
}

}  // namespace
}  // namespace gantry::forecast
