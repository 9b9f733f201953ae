#include "forecast/rate.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace gantry::forecast {
namespace {

TimePoint rate_time(int s) {
  return TimePoint{} + std::chrono::hours(1) + std::chrono::seconds(s);
}

TEST(Rate, TakesEvenTimesForWhatTheyAre) {
  Rate rate;
  EXPECT_FALSE(rate.known());
  for (int i = 0; i < 50; ++i) rate.observe(rate_time(i), 2 * (i % 5 + 1), i % 5 + 1);
  ASSERT_TRUE(rate.known());
  EXPECT_NEAR(rate.expected(), 2, 1e-9);
  EXPECT_EQ(rate.series().observations(), 50U);
}

TEST(Rate, FollowsOneThatBecomesTenTimesSlower) {
  Rate rate;
  for (int i = 0; i < 50; ++i) rate.observe(rate_time(i), 1, 1);
  for (int i = 50; i < 60; ++i) rate.observe(rate_time(i), 10, 1);
  EXPECT_NEAR(rate.expected(), 10, 1);
}

TEST(Rate, OfUnevenTimesTheSumCounts) {
  Rate rate;
  double sum = 0;
  for (int i = 0; i < 200; ++i) {
    rate.observe(rate_time(i), i % 4 == 3 ? 100 : 1, 1);
    sum += rate.expected();
  }
  EXPECT_GT(sum / 200, 10);  // they take 25.75 on average, and 1 as a rule
}

TEST(Rate, ReportsInAnyOrderCount) {
  Rate rate;
  for (int i = 0; i < 40; ++i) rate.observe(rate_time(i % 2 == 0 ? i : i - 2), 3, 1);
  EXPECT_EQ(rate.series().observations(), 40U);
  EXPECT_EQ(rate.series().quarantined(), 0U);
}

TEST(Rate, NonsenseIsNotTaken) {
  Rate rate;
  for (const double bad : {0.0, -1.0, std::nan(""), std::numeric_limits<double>::infinity()}) {
    rate.observe(rate_time(1), bad, 1);
    rate.observe(rate_time(1), 1, bad);
  }
  EXPECT_FALSE(rate.known());
}

}  // namespace
}  // namespace gantry::forecast
