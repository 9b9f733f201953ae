#include "forecast/run_time_sample.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace gantry::forecast {
namespace {

/// One task after the other.
struct OneByOne {
  RunTimeSample sample{};
  TimePoint now{};

  void observe(double seconds, int times = 1) {
    for (int i = 0; i < times; ++i) sample.observe(now += std::chrono::seconds(1), seconds);
  }
};

TEST(RunTimeSample, KeepsTheLastOnes) {
  OneByOne tasks;
  const RunTimeSample& sample = tasks.sample;
  EXPECT_TRUE(sample.empty());
  for (std::size_t i = 0; i < 3 * RunTimeSample::kMost; ++i) tasks.observe(i % 2 == 0 ? 1 : 3);
  EXPECT_DOUBLE_EQ(sample.mean(), 2);
  EXPECT_EQ(sample.last(1000).size(), RunTimeSample::kMost);
  ASSERT_EQ(sample.last(2).size(), 2U);
  EXPECT_EQ(sample.last(2)[1], 3);
}

TEST(RunTimeSample, AStepIsBelievedAfterFourInARow) {
  for (const double after : {0.3, 0.001}) {
    OneByOne tasks;
    tasks.observe(0.01, 50);
    tasks.observe(after, 3);
    EXPECT_EQ(tasks.sample.last(100).size(), 53U);
    tasks.observe(after);
    EXPECT_EQ(tasks.sample.last(100).size(), 4U);
    EXPECT_DOUBLE_EQ(tasks.sample.mean(), after);
  }
}

TEST(RunTimeSample, LongAndShortByTurnsIsNoStepNorAreAFewAtTheBeginning) {
  OneByOne turns;
  for (int i = 0; i < 40; ++i) turns.observe(i % 2 == 0 ? 0.001 : 2);
  EXPECT_EQ(turns.sample.last(100).size(), 40U);
  OneByOne few;
  few.observe(1, 7);
  few.observe(2, 4);
  EXPECT_EQ(few.sample.last(100).size(), 11U);
}

TEST(RunTimeSample, TasksThatStartAtOnceAndEndInTheOrderOfTheirTimesAreNoStep) {
  RunTimeSample sample;
  for (int i = 1; i <= 40; ++i) sample.observe(TimePoint{}, i);
  EXPECT_EQ(sample.last(100).size(), 40U);
}

TEST(RunTimeSample, OneThatTookFarLongerIsForgottenWithoutATrace) {
  OneByOne tasks;
  tasks.observe(1e25);
  for (std::size_t i = 0; i < RunTimeSample::kMost; ++i) tasks.observe(i % 2 == 0 ? 1 : 3);
  EXPECT_DOUBLE_EQ(tasks.sample.mean(), 2);
}

TEST(RunTimeSample, NonsenseSaysNothing) {
  RunTimeSample sample;
  for (const double bad : {0.0, -1.0, 1e-300, 1e300, std::numeric_limits<double>::infinity(),
                           std::numeric_limits<double>::quiet_NaN()})
    sample.observe(TimePoint{}, bad);
  EXPECT_TRUE(sample.empty());
  sample.observe(TimePoint{}, 2);
  EXPECT_DOUBLE_EQ(sample.mean(), 2);
}

TEST(RunTimeSample, LogarithmsAreCountedTogether) {
  RunTimeSample sample;
  sample.observe(TimePoint{}, 1);
  sample.observe(TimePoint{}, std::exp(2));
  // 0 and 2: their mean is 1, and each is 1 away from it.
  EXPECT_DOUBLE_EQ(sample.log_mean(), 1);
  EXPECT_DOUBLE_EQ(sample.log_squares(), 2);
}

}  // namespace
}  // namespace gantry::forecast
