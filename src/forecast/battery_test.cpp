#include "forecast/battery.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <type_traits>
#include <vector>

#include "base/chance.hpp"

namespace gantry::forecast {
namespace {

// A copy is all of it, and thousands of them are fine.
static_assert(std::is_trivially_copyable_v<Battery>);
static_assert(sizeof(Battery) < 6 * 1024);

/// Roughly normal with deviation 1, the same on every machine.
double noise(std::mt19937_64& random) {
  double sum = -6;
  for (int i = 0; i < 12; ++i) sum += unit_of(random());
  return sum;
}

/// The mean absolute errors of the battery and of the last value, so many steps ahead.
struct Errors {
  double battery = 0;
  double last = 0;
};
Errors errors_on(const std::vector<double>& values, std::uint32_t steps = 1) {
  Errors errors;
  std::vector<double> said;
  Battery battery;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i >= steps) {
      errors.battery += std::abs(values[i] - said[i - steps]);
      errors.last += std::abs(values[i] - values[i - steps]);
    }
    battery.observe(values[i]);
    said.push_back(battery.forecast(steps)->value);
  }
  const auto scored = static_cast<double>(values.size() - steps);
  return {errors.battery / scored, errors.last / scored};
}

std::vector<double> any_values(std::size_t most = 150) {
  const auto count = *rc::gen::inRange<std::size_t>(1, most);
  return *rc::gen::container<std::vector<double>>(
      count, rc::gen::map(rc::gen::inRange(-1000, 1000), [](int v) { return v / 8.0; }));
}

TEST(Battery, KnowsNothingBeforeTheFirstObservation) {
  EXPECT_EQ(Battery().forecast(), std::nullopt);
  EXPECT_EQ(Battery().forecast(16), std::nullopt);
}

TEST(Battery, OneValueIsEnough) {
  Battery battery;
  battery.observe(42);
  for (const std::uint32_t steps : {0U, 1U, 4U, 16U, 4'000'000'000U}) {
    EXPECT_EQ(battery.forecast(steps)->value, 42) << steps;
    EXPECT_EQ(battery.forecast(steps)->error, 0) << steps;
  }
}

TEST(Battery, WhatNeverChangesIsForecastExactly) {
  Battery battery;
  for (int i = 0; i < 20'000; ++i) battery.observe(0.1);
  EXPECT_EQ(battery.forecast()->value, 0.1);
  EXPECT_LT(battery.forecast()->error, 1e-15);
  EXPECT_NEAR(battery.forecast(16)->value, 0.1, 1e-15);
}

TEST(Battery, NoiseAroundALevelIsAveraged) {
  std::mt19937_64 random(1);
  std::vector<double> values(2000);
  for (double& value : values) value = 100 + 10 * noise(random);
  // The mean absolute deviation of a normal is 0.8 of its standard deviation; of the difference of
  // two, sqrt(2) times that.
  const Errors errors = errors_on(values);
  EXPECT_LT(errors.battery, 8.4);
  EXPECT_GT(errors.last, 10.5);
}

TEST(Battery, ARandomWalkIsWhereItWas) {
  std::mt19937_64 random(2);
  std::vector<double> values;
  for (double at = 1000; values.size() < 2000; at += noise(random)) values.push_back(at);
  const Errors errors = errors_on(values);
  EXPECT_LT(errors.battery, 1.03 * errors.last);
}

TEST(Battery, WhatReturnsToItsMeanIsForecastThereFarAhead) {
  std::mt19937_64 random(3);
  std::vector<double> values;
  for (double at = 0; values.size() < 3000; at = 0.9 * at + noise(random))
    values.push_back(50 + at);
  // Deviation 1 / sqrt(1 - 0.81) = 2.29. After 16 steps 0.9^16 = 0.19 of where it was is left: the
  // last value is off by sqrt(2 (1 - 0.19)) = 1.27 deviations, the mean by 1.
  const Errors errors = errors_on(values, 16);
  EXPECT_LT(errors.battery, 0.9 * errors.last);
}

TEST(Battery, AlternatingValuesAreForecast) {
  std::vector<double> values(500);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = i % 2 == 0 ? 10 : 20;
  const Errors errors = errors_on(values);
  EXPECT_LT(errors.battery, 1.5);
  EXPECT_EQ(errors.last, 10);
}

TEST(Battery, SpikesDoNotMislead) {
  std::mt19937_64 random(4);
  std::vector<double> values(1000);
  for (double& value : values) value = unit_of(random()) < 0.05 ? 1000 : 10 + noise(random);
  // A spike of 990 in 20 values cannot be foreseen: 49.5 on average. The last value pays twice.
  const Errors errors = errors_on(values);
  EXPECT_LT(errors.battery, 0.6 * errors.last);
}

TEST(Battery, FollowsAStepWithinAFewValues) {
  Battery battery;
  for (int i = 0; i < 500; ++i) battery.observe(1);
  for (int i = 0; i < 4; ++i) battery.observe(10);
  EXPECT_GT(battery.forecast()->value, 9);
}

TEST(Battery, TheErrorIsThatOfTheForecastsOfLate) {
  Battery battery;
  std::mt19937_64 random(5);
  for (int i = 0; i < 1000; ++i) battery.observe(100 + 10 * noise(random));
  EXPECT_NEAR(battery.forecast()->error, 8, 1.5);
  for (int i = 0; i < 1000; ++i) battery.observe(100 + noise(random));
  EXPECT_NEAR(battery.forecast()->error, 0.8, 0.15);
}

TEST(Battery, ItsMembersAreNamedOnce) {
  const auto names = Battery::members();
  for (std::size_t i = 0; i < names.size(); ++i) {
    EXPECT_FALSE(names[i].empty());
    for (std::size_t j = 0; j < i; ++j) EXPECT_NE(names[i], names[j]);
  }
  EXPECT_EQ(Battery().predictions(0).size(), names.size());
}

TEST(Battery, WhatIsNotFiniteIsLeftOut) {
  Battery battery;
  battery.observe(std::nan(""));
  battery.observe(std::numeric_limits<double>::infinity());
  battery.observe(-std::numeric_limits<double>::infinity());
  EXPECT_EQ(battery.observations(), 0U);
  battery.observe(7);
  battery.observe(std::nan(""));
  EXPECT_EQ(battery.observations(), 1U);
  EXPECT_EQ(battery.forecast()->value, 7);
}

TEST(Battery, RecoversFromHugeValues) {
  Battery battery;
  for (int i = 0; i < 50; ++i) battery.observe(5);
  for (int i = 0; i < 3; ++i) battery.observe(1e7);
  for (int i = 0; i < 2000; ++i) battery.observe(5 + i % 2);
  EXPECT_NEAR(battery.forecast()->value, 5.5, 1);
  EXPECT_LT(battery.forecast()->error, 1);
}

/// Numbers that break arithmetic, among ordinary ones.
double any_hostile() {
  constexpr double kMost = std::numeric_limits<double>::max();
  constexpr double kLeast = std::numeric_limits<double>::denorm_min();
  return *rc::gen::element(0.0, -0.0, 1.0, -1.0, 1e-300, kLeast, -kLeast, kMost, -kMost, 1e100,
                           -1e100, 1e16, 1e16 + 2, 3.5, std::nan(""),
                           std::numeric_limits<double>::infinity());
}

TEST(BatteryProperty, ForecastsAreFiniteWhateverComes) {
  EXPECT_TRUE(rc::check([] {
    Battery battery;
    const auto count = *rc::gen::inRange(1, 200);
    for (int i = 0; i < count; ++i) battery.observe(any_hostile());
    if (battery.observations() == 0) return;
    for (const std::uint32_t steps : {1U, 4U, 16U}) {
      RC_ASSERT(std::isfinite(battery.forecast(steps)->value));
      RC_ASSERT(std::isfinite(battery.forecast(steps)->error));
      RC_ASSERT(battery.forecast(steps)->error >= 0);
    }
  }));
}

TEST(BatteryProperty, TheSameValuesGiveTheSameForecast) {
  EXPECT_TRUE(rc::check([] {
    const auto values = any_values();
    Battery one;
    Battery other;
    for (const double value : values) one.observe(value);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const Battery copy = other;
      other = copy;
      other.observe(values[i]);
    }
    RC_ASSERT(one.forecast()->value == other.forecast()->value);
    RC_ASSERT(one.forecast(16)->member == other.forecast(16)->member);
  }));
}

TEST(BatteryProperty, TheUnitDoesNotMatter) {
  EXPECT_TRUE(rc::check([] {
    const auto values = any_values();
    const double unit = std::exp2(*rc::gen::inRange(-60, 60));
    Battery one;
    Battery other;
    for (const double value : values) {
      one.observe(value);
      other.observe(unit * value);
    }
    for (const std::uint32_t steps : {1U, 4U, 16U})
      RC_ASSERT(other.forecast(steps)->value == unit * one.forecast(steps)->value);
  }));
}

TEST(BatteryProperty, MeansAndMediansAreThoseOfTheLastValues) {
  EXPECT_TRUE(rc::check([] {
    const auto values = any_values(300);
    Battery battery;
    for (const double value : values) battery.observe(value);
    const auto said = [&](std::string_view name) {
      const auto names = Battery::members();
      const auto at = std::find(names.begin(), names.end(), name) - names.begin();
      return battery.predictions(0)[static_cast<std::size_t>(at)];
    };
    const auto last = [&](std::size_t count) {
      count = std::min(count, values.size());
      return std::vector<double>(values.end() - static_cast<std::ptrdiff_t>(count), values.end());
    };
    const auto mean = [&](std::size_t count) {
      const auto some = last(count);
      return std::accumulate(some.begin(), some.end(), 0.0) / static_cast<double>(some.size());
    };
    const auto median = [&](std::size_t count) {
      auto some = last(count);
      std::sort(some.begin(), some.end());
      return (some[(some.size() - 1) / 2] + some[some.size() / 2]) / 2;
    };
    RC_ASSERT(said("last value") == values.back());
    RC_ASSERT(std::abs(said("mean") - mean(values.size())) < 1e-9);
    RC_ASSERT(std::abs(said("mean of 5") - mean(5)) < 1e-9);
    RC_ASSERT(std::abs(said("mean of 20") - mean(20)) < 1e-9);
    RC_ASSERT(said("median of 5") == median(5));
    RC_ASSERT(said("median of 31") == median(31));
  }));
}

}  // namespace
}  // namespace gantry::forecast
