#include "schedule/gantt/event_interval.hpp"

#include <gtest/gtest.h>

namespace gantry::schedule {
namespace {

TEST(EventInterval, FixedOnesStay) {
  EventInterval interval(500, false);
  for (const double deviation : {0.0, 0.05, 1.0}) {
    interval.learn(deviation);
    EXPECT_DOUBLE_EQ(interval.seconds(), 500);
  }
}

TEST(EventInterval, AdaptsToThePlansDeviationWithinLimits) {
  EventInterval interval(400, true);
  interval.learn(0.05);
  EXPECT_DOUBLE_EQ(interval.seconds(), 400);
  interval.learn(0.3);
  EXPECT_DOUBLE_EQ(interval.seconds(), 200);
  for (int i = 0; i < 9; ++i) interval.learn(0.3);
  EXPECT_DOUBLE_EQ(interval.seconds(), 50);
  for (int i = 0; i < 9; ++i) interval.learn(0.0);
  EXPECT_DOUBLE_EQ(interval.seconds(), 3200);
}

TEST(EventInterval, NeverStaysNever) {
  EventInterval interval(kInfinite, true);
  interval.learn(0.3);
  EXPECT_EQ(interval.seconds(), kInfinite);
}

}  // namespace
}  // namespace gantry::schedule
