#include "forecast/series.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cmath>
#include <random>
#include <type_traits>

#include "base/chance.hpp"

namespace gantry::forecast {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

static_assert(std::is_trivially_copyable_v<Series>);
static_assert(sizeof(Series) <= 8 * 1024);

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

TimePoint moment(double second) {
  return TimePoint{} + from_seconds(second);
}

double width(const Series& series, Duration ahead) {
  const auto forecast = series.forecast(ahead);
  return forecast->high - forecast->low;
}

/// A value every ten seconds, 100 + noise.
Series noisy(int count, double spread, std::uint64_t seed = 1) {
  std::mt19937_64 random(seed);
  Series series;
  for (int i = 0; i < count; ++i)
    series.observe(moment(10.0 * i), 100 + spread * (unit_of(random()) - unit_of(random())));
  return series;
}

TEST(Series, KnowsNothingBeforeTheFirstValue) {
  const Series series;
  EXPECT_FALSE(series.forecast());
  EXPECT_FALSE(series.forecast(hours(1)));
  EXPECT_EQ(series.accuracy().scored, 0U);
  EXPECT_EQ(series.accuracy(hours(1)).scored, 0U);
}

TEST(Series, OneValueWorks) {
  Series series;
  EXPECT_EQ(series.observe(moment(5), 42), Verdict::taken);
  for (const Duration ahead : {Duration{0}, Duration{seconds(1)}, Duration{hours(9)}}) {
    const auto forecast = series.forecast(ahead);
    EXPECT_EQ(forecast->value, 42);
    EXPECT_LT(forecast->low, 42);
    EXPECT_GT(forecast->high, 42);
  }
  EXPECT_EQ(series.last_time(), moment(5));
}

TEST(Series, WhatCannotBeIsKeptOut) {
  Series series({.lowest = 0, .highest = 1});
  EXPECT_EQ(series.observe(moment(1), 0.5), Verdict::taken);
  EXPECT_EQ(series.observe(moment(2), kNan), Verdict::not_a_number);
  EXPECT_EQ(series.observe(moment(2), kInfinity), Verdict::infinite);
  EXPECT_EQ(series.observe(moment(2), -kInfinity), Verdict::infinite);
  EXPECT_EQ(series.observe(moment(2), -0.1), Verdict::out_of_bounds);
  EXPECT_EQ(series.observe(moment(2), 1.1), Verdict::out_of_bounds);
  EXPECT_EQ(series.observe(moment(1), 0.5), Verdict::not_later);
  EXPECT_EQ(series.observe(moment(0), 0.5), Verdict::not_later);
  EXPECT_EQ(series.observe(moment(1e9), 0.5), Verdict::clock_jump);
  EXPECT_EQ(series.observe(moment(2), 0.6), Verdict::taken);
  EXPECT_EQ(series.observations(), 2U);
  EXPECT_EQ(series.quarantined(), 8U);
  EXPECT_EQ(Series().observe(moment(1), 1e200), Verdict::out_of_bounds);
}

TEST(Series, EachVerdictHasAReason) {
  for (int i = 0; i <= static_cast<int>(Verdict::absurd); ++i)
    EXPECT_FALSE(reason(static_cast<Verdict>(i)).empty());
}

TEST(Series, ValuesOfOneMomentMayBeAllowed) {
  Series series({.together = true});
  for (int i = 0; i < 50; ++i) EXPECT_EQ(series.observe(moment(1), 7), Verdict::taken);
  EXPECT_EQ(series.observe(moment(0), 7), Verdict::not_later);
  EXPECT_EQ(series.forecast(seconds(1))->value, 7);
}

TEST(Series, OneAbsurdValueChangesNothing) {
  Series series = noisy(50, 5);
  const auto before = series.forecast();
  EXPECT_EQ(series.observe(moment(1000), 1e9), Verdict::absurd);
  EXPECT_EQ(series.forecast()->value, before->value);
  EXPECT_EQ(series.forecast()->high, before->high);
  EXPECT_EQ(series.observe(moment(1010), 101), Verdict::taken);
  EXPECT_EQ(series.observe(moment(1020), 1e9), Verdict::absurd);  // the other one is long ago
}

TEST(Series, TenTimesSlowerIsBelievedAtOnceAndAThousandTimesSoon) {
  Series series = noisy(50, 5);
  for (int i = 0; i < 4; ++i)
    EXPECT_EQ(series.observe(moment(1000 + i), 1000 + i), Verdict::taken) << i;
  EXPECT_NEAR(series.forecast()->value, 1000, 100);

  series = noisy(50, 5);
  EXPECT_EQ(series.observe(moment(1000), 1e5), Verdict::absurd);
  for (int i = 1; i < 5; ++i)
    EXPECT_EQ(series.observe(moment(1000 + i), 1e5 + i), Verdict::taken) << i;
  EXPECT_NEAR(series.forecast()->value, 1e5, 1e4);
}

TEST(Series, ValuesThatGoWildAreBelievedAfterThree) {
  Series series = noisy(50, 5);
  EXPECT_EQ(series.observe(moment(1000), 1e5), Verdict::absurd);
  EXPECT_EQ(series.observe(moment(1001), 1e7), Verdict::absurd);
  EXPECT_EQ(series.observe(moment(1002), 1e9), Verdict::taken);
}

TEST(Series, AClockThatWasSetBackIsBelievedAfterThreeValues) {
  Series series = noisy(50, 5);
  EXPECT_EQ(series.observe(moment(10), 100), Verdict::not_later);
  EXPECT_EQ(series.observe(moment(20), 100), Verdict::not_later);
  EXPECT_EQ(series.observe(moment(30), 100), Verdict::taken);
  EXPECT_EQ(series.observe(moment(40), 100), Verdict::taken);
  EXPECT_EQ(series.last_time(), moment(40));
  EXPECT_NEAR(series.forecast(seconds(10))->value, 100, 5);
}

TEST(Series, AClockThatJumpedAheadIsBelievedAtTheSecondValue) {
  Series series = noisy(50, 5);
  const double later = 1e8;
  EXPECT_EQ(series.observe(moment(later), 100), Verdict::clock_jump);
  EXPECT_EQ(series.observe(moment(later + 10), 100), Verdict::taken);
  EXPECT_EQ(series.observe(moment(500), 100), Verdict::not_later);
}

TEST(Series, ASingleJumpOfTheClockDoesNotShutOutWhatFollows) {
  Series series = noisy(50, 5);
  EXPECT_EQ(series.observe(moment(1e8), 100), Verdict::clock_jump);
  EXPECT_EQ(series.observe(moment(600), 100), Verdict::taken);
}

TEST(Series, TheIntervalIsLearntAndHoldsFourInFive) {
  const Series calm = noisy(2000, 2);
  const Series wild = noisy(2000, 40);
  EXPECT_LT(10 * width(calm, seconds(10)), width(wild, seconds(10)));
  for (const Series* series : {&calm, &wild}) {
    EXPECT_EQ(series->accuracy().scored, 1999U);
    EXPECT_NEAR(series->accuracy().inside, 0.8, 0.05);
    EXPECT_NEAR(series->accuracy(seconds(160)).inside, 0.8, 0.06);
  }
  // The difference of two uniform numbers deviates from 0 by 1/3 on average.
  EXPECT_NEAR(calm.accuracy().absolute, 2.0 / 3, 0.05);
  EXPECT_NEAR(calm.accuracy().relative, 2.0 / 300, 0.0005);
}

TEST(Series, TheIntervalOfAWalkGrowsWithTheLookAhead) {
  std::mt19937_64 random(7);
  Series series;
  double value = 1e6;
  for (int i = 0; i < 2000; ++i) series.observe(moment(60.0 * i), value += unit_of(random()) - 0.5);
  // Sixteen steps spread four times as far as one; the stretches are a factor of two wide.
  const double ratio = width(series, minutes(16)) / width(series, minutes(1));
  EXPECT_GT(ratio, 2.4);
  EXPECT_LT(ratio, 6);
  EXPECT_GT(width(series, hours(24)), width(series, minutes(16)));
  EXPECT_GT(series.accuracy(minutes(16)).absolute, 2.5 * series.accuracy(minutes(1)).absolute);
}

TEST(Series, SkewedErrorsHaveASkewedInterval) {
  std::mt19937_64 random(8);
  Series series;
  for (int i = 0; i < 3000; ++i)
    series.observe(moment(i), 10 - 5 * std::log(1 - unit_of(random())));
  const auto forecast = series.forecast(seconds(1));
  EXPECT_GT(forecast->high - forecast->value, 1.5 * (forecast->value - forecast->low));
  EXPECT_NEAR(series.accuracy().inside, 0.8, 0.05);
}

TEST(Series, AnswersStayWithinTheBoundsOfTheKind) {
  Series series({.lowest = 0, .highest = 1});
  std::mt19937_64 random(9);
  for (int i = 0; i < 500; ++i) series.observe(moment(i), unit_of(random()) < 0.1 ? 0.2 : 1);
  const auto forecast = series.forecast(hours(1));
  EXPECT_GE(forecast->low, 0);
  EXPECT_LE(forecast->high, 1);
}

TEST(Series, TheAnswerIsThatOfTheLookAheadThatWasAsked) {
  Series series = noisy(200, 5);
  const auto near = series.forecast(seconds(10));
  EXPECT_LT(width(series, seconds(10)), width(series, hours(10)));
  EXPECT_EQ(series.forecast(seconds(10))->high, near->high);
  EXPECT_EQ(series.forecast(seconds(10))->high, near->high);
}

TEST(SeriesProperty, NothingBreaksIt) {
  EXPECT_TRUE(rc::check([] {
    Series series({.lowest = -kInfinity, .together = *rc::gen::arbitrary<bool>()});
    const auto count = *rc::gen::inRange(1, 120);
    std::uint64_t kept_out = 0;
    for (int i = 0; i < count; ++i) {
      const auto time = *rc::gen::oneOf(
          rc::gen::arbitrary<std::int64_t>(),
          rc::gen::element(std::numeric_limits<std::int64_t>::min(),
                           std::numeric_limits<std::int64_t>::max(), std::int64_t{0}),
          rc::gen::map(rc::gen::inRange(0, 1000),
                       [](int s) { return s * std::int64_t{1'000'000'000}; }));
      const auto value =
          *rc::gen::oneOf(rc::gen::arbitrary<double>(),
                          rc::gen::element(0.0, 1.0, 1e100, -1e100, 1e308, kNan, kInfinity, 5e-324),
                          rc::gen::map(rc::gen::inRange(1, 100), [](int v) { return double(v); }));
      if (series.observe(from_ns(time), value) != Verdict::taken) ++kept_out;
      if (series.observations() == 0) continue;
      const auto forecast = series.forecast(Duration{*rc::gen::arbitrary<std::int64_t>()});
      RC_ASSERT(std::isfinite(forecast->value));
      RC_ASSERT(forecast->low <= forecast->value && forecast->value <= forecast->high);
    }
    RC_ASSERT(series.quarantined() == kept_out);
    RC_ASSERT(series.observations() + kept_out == static_cast<std::uint64_t>(count));
    RC_ASSERT(series.accuracy().inside >= 0 && series.accuracy().inside <= 1);
  }));
}

TEST(SeriesProperty, NoLongerLookAheadHasANarrowerInterval) {
  EXPECT_TRUE(rc::check([] {
    Series series({.lowest = -kInfinity});
    const auto count = *rc::gen::inRange(1, 100);
    double time = 0;
    for (int i = 0; i < count; ++i) {
      time += *rc::gen::inRange(1, 100'000) / 100.0;
      series.observe(moment(time), *rc::gen::inRange(-1000, 1000));
    }
    double before = 0;
    for (double ahead = 0.001; ahead < 1e8; ahead *= 1.7) {
      const double now = width(series, from_seconds(ahead));
      RC_ASSERT(now >= before * (1 - 1e-12));
      before = now;
    }
  }));
}

TEST(SeriesProperty, TheSameHistoryGivesTheSameAnswers) {
  EXPECT_TRUE(rc::check([] {
    const auto values = *rc::gen::container<std::vector<int>>(60, rc::gen::inRange(1, 1000));
    Series one;
    Series other;
    double time = 0;
    for (const int value : values) {
      time += value;
      one.observe(moment(time), value);
      (void)other.forecast(seconds(value));  // asking changes nothing
      other.observe(moment(time), value);
    }
    for (const int ahead : {1, 100, 10'000}) {
      RC_ASSERT(one.forecast(seconds(ahead))->value == other.forecast(seconds(ahead))->value);
      RC_ASSERT(one.forecast(seconds(ahead))->low == other.forecast(seconds(ahead))->low);
    }
  }));
}

}  // namespace
}  // namespace gantry::forecast
