#include "simulate/experiment_statistics.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace gantry::simulate {
namespace {

/// Three schedulers, two cases.
ExperimentTable small_table() {
  return {.schedulers = {"a", "b", "c"},
          .makespans = {{100, 200, 100}, {400, 100, 200}},
          .bounds = {50, 100}};
}

TEST(ExperimentStatistics, AreThePapersMeasures) {
  const auto all = statistics(small_table());
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[0].scheduler, "a");
  EXPECT_NEAR(all[0].geometric_mean.value, 200, 1e-9);               // sqrt(100 * 400)
  EXPECT_NEAR(all[1].geometric_mean.value, std::sqrt(20000), 1e-9);  // sqrt(200 * 100)
  // From the best, 100 in both cases.
  EXPECT_NEAR(all[0].degradation.value, (0.0 + 3.0) / 2, 1e-12);
  EXPECT_NEAR(all[1].degradation.value, (1.0 + 0.0) / 2, 1e-12);
  EXPECT_NEAR(all[2].degradation.value, (0.0 + 1.0) / 2, 1e-12);
  // In the first case a and c share the places 1 and 2.
  EXPECT_NEAR(all[0].rank.value, (1.5 + 3) / 2, 1e-12);
  EXPECT_NEAR(all[1].rank.value, (3.0 + 1) / 2, 1e-12);
  EXPECT_NEAR(all[2].rank.value, (1.5 + 2) / 2, 1e-12);
  // 2 and 4, 4 and 1, 2 and 2 times the bounds.
  EXPECT_NEAR(all[0].distance.value, std::sqrt(8), 1e-12);
  EXPECT_NEAR(all[1].distance.value, 2, 1e-12);
  EXPECT_NEAR(all[2].distance.value, 2, 1e-12);
}

TEST(ExperimentStatistics, RoundingIsNoDifference) {
  const auto all = statistics({.schedulers = {"a", "b"}, .makespans = {{100, 100 + 1e-9}}});
  EXPECT_EQ(all[0].rank.value, 1.5);
  EXPECT_EQ(all[1].rank.value, 1.5);
  EXPECT_EQ(all[0].distance.value, 0);
}

TEST(ExperimentStatistics, OfNoCasesAreZero) {
  const auto all = statistics({.schedulers = {"a"}});
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].geometric_mean.value, 0);
  EXPECT_EQ(all[0].rank.high, 0);
}

TEST(ExperimentStatistics, OneCaseHasNoSpread) {
  const auto all = statistics({.schedulers = {"a", "b"}, .makespans = {{10, 20}}});
  EXPECT_EQ(all[1].degradation.low, 1);
  EXPECT_EQ(all[1].degradation.high, 1);
}

TEST(ExperimentStatistics, IntervalsAreThoseOfTheMean) {
  // 400 numbers that are 0 or 1: the mean has a deviation of 0.5 / sqrt(400) = 0.025, and 95% of
  // a normal distribution lie within 1.96 of these.
  std::vector<double> values;
  for (int i = 0; i < 400; ++i) values.push_back(i % 2);
  const Measure mean_of_all = mean_of_runs(values, {.resamples = 4000});
  EXPECT_EQ(mean_of_all.value, 0.5);
  EXPECT_NEAR(mean_of_all.low, 0.5 - 1.96 * 0.025, 0.004);
  EXPECT_NEAR(mean_of_all.high, 0.5 + 1.96 * 0.025, 0.004);
  const Measure narrower = mean_of_runs(values, {.confidence = 0.5, .resamples = 4000});
  EXPECT_NEAR(narrower.high, 0.5 + 0.674 * 0.025, 0.004);
  const Measure again = mean_of_runs(values, {.resamples = 4000});
  EXPECT_EQ(again.low, mean_of_all.low);
}

}  // namespace
}  // namespace gantry::simulate
