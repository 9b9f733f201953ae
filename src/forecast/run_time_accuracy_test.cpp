#include "forecast/run_time_accuracy.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace gantry::forecast {
namespace {

TEST(RunTimeAccuracy, SaysNothingBeforeTheFirstScore) {
  const RunTimeAccuracy none;
  EXPECT_EQ(none.scored(), 0U);
  EXPECT_EQ(none.mean_error(), 0);
  EXPECT_EQ(none.quantile(0.9), 1);
  EXPECT_DOUBLE_EQ(none.expected_beyond(3), 5);  // as long again as it is over
}

TEST(RunTimeAccuracy, KnowsWhatIsUsual) {
  RunTimeAccuracy accuracy;
  for (int i = 1; i <= 100; ++i) accuracy.score(100, 50 + i);  // 0.51 to 1.5
  EXPECT_EQ(accuracy.scored(), 100U);
  EXPECT_NEAR(accuracy.quantile(0.5), 1.0, 0.06);
  EXPECT_NEAR(accuracy.quantile(0.98), 1.48, 0.06);
  EXPECT_NEAR(accuracy.quantile(0), 0.5, 0.04);
  EXPECT_NEAR(accuracy.mean_error(), 0.28, 0.03);
}

TEST(RunTimeAccuracy, WhatHasLastedLongLastsLonger) {
  RunTimeAccuracy accuracy;
  for (int i = 0; i < 90; ++i) accuracy.score(10, 10);
  for (int i = 0; i < 10; ++i) accuracy.score(10, 80);
  EXPECT_NEAR(accuracy.expected_beyond(0.5), 1.8, 0.2);
  EXPECT_NEAR(accuracy.expected_beyond(2), 8, 0.3);
  EXPECT_DOUBLE_EQ(accuracy.expected_beyond(20), 39);  // never seen
  for (double lasted = 0; lasted < 100; lasted += 0.1)
    EXPECT_GE(accuracy.expected_beyond(lasted), lasted);
}

TEST(RunTimeAccuracy, FollowsWhatHasChanged) {
  RunTimeAccuracy accuracy;
  for (int i = 0; i < 10'000; ++i) accuracy.score(1, 1);
  for (int i = 0; i < 2'000; ++i) accuracy.score(1, 4);
  EXPECT_NEAR(accuracy.quantile(0.5), 4, 0.2);
  EXPECT_NEAR(accuracy.mean_error(), 0.75, 0.05);
}

TEST(RunTimeAccuracy, StaysANumberForEver) {
  RunTimeAccuracy accuracy;
  for (int i = 0; i < 1'000'000; ++i) accuracy.score(1, i % 2 == 0 ? 0.9 : 1.1);
  EXPECT_NEAR(accuracy.quantile(0.5), 1, 0.12);
  EXPECT_NEAR(accuracy.mean_error(), 0.1, 0.01);
}

TEST(RunTimeAccuracy, AbsurdScoresSayNothing) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  RunTimeAccuracy accuracy;
  for (const double bad : {0.0, -1.0, kInfinity, -kInfinity, std::nan("")}) {
    accuracy.score(bad, 1);
    accuracy.score(1, bad);
  }
  EXPECT_EQ(accuracy.scored(), 0U);
  accuracy.score(1e-300, 1e300);
  accuracy.score(1e300, 1e-300);
  EXPECT_TRUE(std::isfinite(accuracy.quantile(1)));
  EXPECT_TRUE(std::isfinite(accuracy.mean_error()));
  EXPECT_TRUE(std::isfinite(accuracy.quantile(std::nan(""))));
}

}  // namespace
}  // namespace gantry::forecast
