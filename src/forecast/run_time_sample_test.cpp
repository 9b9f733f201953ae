#include "forecast/run_time_sample.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace gantry::forecast {
namespace {

void observe_many(RunTimeSample& sample, double seconds, int times) {
  for (int i = 0; i < times; ++i) sample.observe(seconds);
}

TEST(RunTimeSample, KeepsTheLastOnes) {
  RunTimeSample sample;
  EXPECT_TRUE(sample.empty());
  for (std::size_t i = 0; i < 3 * RunTimeSample::kMost; ++i) sample.observe(i % 2 == 0 ? 1 : 3);
  EXPECT_DOUBLE_EQ(sample.mean(), 2);
  EXPECT_EQ(sample.last(1000).size(), RunTimeSample::kMost);
  ASSERT_EQ(sample.last(2).size(), 2U);
  EXPECT_EQ(sample.last(2)[1], 3);
}

TEST(RunTimeSample, AStepIsBelievedAfterFourInARow) {
  for (const double after : {0.3, 0.001}) {
    RunTimeSample sample;
    observe_many(sample, 0.01, 50);
    observe_many(sample, after, 3);
    EXPECT_EQ(sample.last(100).size(), 53U);
    sample.observe(after);
    EXPECT_EQ(sample.last(100).size(), 4U);
    EXPECT_DOUBLE_EQ(sample.mean(), after);
  }
}

TEST(RunTimeSample, LongAndShortByTurnsIsNoStepNorAreAFewAtTheBeginning) {
  RunTimeSample turns;
  for (int i = 0; i < 40; ++i) turns.observe(i % 2 == 0 ? 0.001 : 2);
  EXPECT_EQ(turns.last(100).size(), 40U);
  RunTimeSample few;
  observe_many(few, 1, 7);
  observe_many(few, 2, 4);
  EXPECT_EQ(few.last(100).size(), 11U);
}

TEST(RunTimeSample, OneThatTookFarLongerIsForgottenWithoutATrace) {
  RunTimeSample sample;
  sample.observe(1e25);
  for (std::size_t i = 0; i < RunTimeSample::kMost; ++i) sample.observe(i % 2 == 0 ? 1 : 3);
  EXPECT_DOUBLE_EQ(sample.mean(), 2);
}

TEST(RunTimeSample, NonsenseSaysNothing) {
  RunTimeSample sample;
  for (const double bad : {0.0, -1.0, 1e-300, 1e300, std::numeric_limits<double>::infinity(),
                           std::numeric_limits<double>::quiet_NaN()})
    sample.observe(bad);
  EXPECT_TRUE(sample.empty());
  sample.observe(2);
  EXPECT_DOUBLE_EQ(sample.mean(), 2);
}

TEST(PooledTimes, AHostWhereLittleWasSeenIsLikeTheOthers) {
  PooledTimes pooled;
  EXPECT_TRUE(pooled.empty());
  RunTimeSample one;
  one.observe(10);
  RunTimeSample many;
  for (int i = 0; i < 9; ++i) many.observe(i % 2 == 0 ? 1.5 : 2.5);
  pooled.add(one, 1);
  pooled.add(many, 1);
  EXPECT_FALSE(pooled.empty());
  // (10 + 5 * 1.5 + 4 * 2.5) / 10 of all: that counts as four tasks.
  EXPECT_DOUBLE_EQ(pooled.expected(nullptr, 1), 2.75);
  EXPECT_DOUBLE_EQ(pooled.expected(&one, 1), (10 + 4 * 2.75) / 5);
  EXPECT_DOUBLE_EQ(pooled.expected(&many, 1), (17.5 + 4 * 2.75) / 13);
}

TEST(PooledTimes, HostsAreComparedByTheSpeedsThatAreDeclared) {
  PooledTimes pooled;
  RunTimeSample slow;
  observe_many(slow, 8, 3);
  RunTimeSample fast;
  observe_many(fast, 2, 12);
  pooled.add(slow, 0.5);
  pooled.add(fast, 2);
  // All take 4 on a host of speed 1. A speed that makes no sense is 1.
  EXPECT_DOUBLE_EQ(pooled.expected(nullptr, 1), 4);
  EXPECT_DOUBLE_EQ(pooled.expected(nullptr, -3), 4);
  EXPECT_DOUBLE_EQ(pooled.expected(&slow, 0.5), 8);
  EXPECT_DOUBLE_EQ(pooled.expected(&fast, 2), 2);
}

TEST(PooledTimes, TheOnlyHostIsAsItWasSeen) {
  PooledTimes pooled;
  RunTimeSample only;
  only.observe(1);
  only.observe(5);
  pooled.add(only, 3);
  EXPECT_DOUBLE_EQ(pooled.expected(&only, 3), 3);
}

}  // namespace
}  // namespace gantry::forecast
