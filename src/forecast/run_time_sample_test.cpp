#include "forecast/run_time_sample.hpp"

#include <gtest/gtest.h>

#include <cmath>
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

TEST(RunTimeSample, LogarithmsAreCountedTogether) {
  RunTimeSample sample;
  sample.observe(1);
  sample.observe(std::exp(2));
  // 0 and 2: their mean is 1, and each is 1 away from it.
  EXPECT_DOUBLE_EQ(sample.log_mean(), 1);
  EXPECT_DOUBLE_EQ(sample.log_squares(), 2);
}

}  // namespace
}  // namespace gantry::forecast
