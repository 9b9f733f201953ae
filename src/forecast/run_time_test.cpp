#include "forecast/run_time.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "forecast/cost_profile.hpp"

namespace gantry::forecast {
namespace {

using std::chrono::milliseconds;

TEST(RunTimeForecast, KnowsNothingBeforeTheFirstObservation) {
  const RunTimeForecast forecast;
  EXPECT_EQ(forecast.observations(), 0U);
  EXPECT_FALSE(forecast.expected(1));
  EXPECT_FALSE(forecast.mean());
}

TEST(RunTimeForecast, ScalesWithCost) {
  RunTimeForecast forecast;
  forecast.observe(1, milliseconds(100));
  forecast.observe(3, milliseconds(300));
  EXPECT_NEAR(seconds(*forecast.expected(10)), 1.0, 1e-6);
  // Nearly (100 + 300) / 2: the later one weighs a little more.
  EXPECT_NEAR(seconds(*forecast.mean()), 0.2, 0.001);
}

TEST(RunTimeForecast, FollowsAMachineThatBecomesSlower) {
  RunTimeForecast forecast;
  for (int i = 0; i < 5000; ++i) forecast.observe(1, milliseconds(10));
  for (std::size_t i = 0; i < RunTimeForecast::kMemory; ++i) forecast.observe(1, milliseconds(50));
  EXPECT_NEAR(seconds(*forecast.mean()), 0.05, 0.0001);
}

TEST(RunTimeForecast, SurvivesNonsense) {
  RunTimeForecast forecast;
  forecast.observe(std::nan(""), milliseconds(-5));
  forecast.observe(-1, milliseconds(20));
  forecast.observe(std::numeric_limits<double>::infinity(), milliseconds(40));
  // Costs count as 1, the negative time as 0: the mean of 0, 20 and 40 ms.
  EXPECT_NEAR(seconds(*forecast.expected(1)), 0.020, 0.0002);
  EXPECT_GT(*forecast.expected(1e300), Duration{0});
}

TEST(CostProfile, IsExactForSmallSweeps) {
  // Costs 1 2 3 4: from the third on (3 + 4) / 2.
  const CostProfile profile(4, [](std::uint32_t i) { return i + 1.0; });
  EXPECT_DOUBLE_EQ(profile.mean_from(0), 2.5);
  EXPECT_DOUBLE_EQ(profile.mean_from(2), 3.5);
  EXPECT_DOUBLE_EQ(profile.mean_from(4), 4.0);
}

TEST(CostProfile, SamplesLargeSweeps) {
  int asked = 0;
  const CostProfile profile(1'000'000, [&](std::uint32_t i) {
    ++asked;
    EXPECT_LT(i, 1'000'000U);
    return i + 1.0;
  });
  EXPECT_LE(asked, 1024);
  EXPECT_NEAR(profile.mean_from(0), 500'000.0, 5'000.0);
  EXPECT_NEAR(profile.mean_from(900'000), 950'000.0, 5'000.0);
}

TEST(CostProfile, IsOneWithoutCosts) {
  EXPECT_DOUBLE_EQ(CostProfile(10, {}).mean_from(3), 1.0);
  EXPECT_DOUBLE_EQ(CostProfile(0, [](std::uint32_t) { return 7.0; }).mean_from(0), 1.0);
}

}  // namespace
}  // namespace gantry::forecast
