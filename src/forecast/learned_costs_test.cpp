#include "forecast/learned_costs.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "base/chance.hpp"

namespace gantry::forecast {
namespace {

/// Task n has the parameter n.
Features number_of(TaskId task) {
  return {static_cast<double>(task.value())};
}

/// Up to 5 % more or less.
double noisy_cost(double value, std::uint32_t seed) {
  return value * (0.95 + 0.1 * static_cast<double>(mixed(seed) % 1000) / 1000);
}
double squared(std::uint32_t n) {
  return 0.5 + 0.01 * n * n;
}

TEST(LearnedCosts, SquaresAreFoundInTheFirstThird) {
  LearnedCosts costs(200, number_of, {});
  EXPECT_FALSE(costs.known());
  EXPECT_EQ(costs.cost(TaskId(7)), 1);
  int changes = 0;
  for (std::uint32_t n = 1; n <= 60; ++n)
    changes += costs.ran(TaskId(n), HostId(1), 1, noisy_cost(squared(n), n)) ? 1 : 0;
  ASSERT_TRUE(costs.known());
  EXPECT_LT(changes, 12);
  EXPECT_NEAR(costs.cost(TaskId(200)) / costs.cost(TaskId(100)), squared(200) / squared(100), 1);
  EXPECT_NEAR(costs.unit() * costs.cost(TaskId(50)), squared(50), 0.15 * squared(50));
  // Relative, in steps.
  EXPECT_NEAR(costs.mean_from(0), 1, 0.01);
  EXPECT_GT(costs.mean_from(150), 2);
  std::set<double> different;
  for (std::uint32_t n = 1; n <= 200; ++n) different.insert(costs.cost(TaskId(n)));
  EXPECT_LT(different.size(), 150U);
  EXPECT_GE(costs.model()->observations(), 45U) << "shown is the newest, whatever costs are from";
  // The tasks up to 60 are known, those beyond less.
  EXPECT_GT(costs.margin_from(150).above, 0.02);
  EXPECT_LE(costs.margin_from(0).above, 4);
}

TEST(LearnedCosts, OfTasksThatTakeTheSameNothingIsSaid) {
  LearnedCosts costs(1000, number_of, {});
  for (std::uint32_t n = 1; n <= 300; ++n)
    EXPECT_FALSE(costs.ran(TaskId(n), HostId(n % 3 + 1), 1, noisy_cost(2, n)));
  EXPECT_FALSE(costs.known());
  EXPECT_EQ(costs.cost(TaskId(1)), 1);
  EXPECT_EQ(costs.margin_from(0).above, 0);
  ASSERT_TRUE(costs.to_keep());
}

TEST(LearnedCosts, ShortTasksAreNotWorthIt) {
  LearnedCosts costs(1000, number_of, {});
  for (std::uint32_t n = 1; n <= 300; ++n)
    EXPECT_FALSE(costs.ran(TaskId(n), HostId(1), 1, 1e-6 * n * n / 10));
  EXPECT_FALSE(costs.to_keep());
}

TEST(LearnedCosts, WithoutParametersNothingIsLearnt) {
  LearnedCosts costs(1000, {}, {});
  EXPECT_FALSE(costs.learns());
  for (std::uint32_t n = 1; n <= 50; ++n)
    EXPECT_FALSE(costs.ran(TaskId(n), HostId(1), 1, squared(n)));
  EXPECT_EQ(costs.cost(TaskId(3)), 1);
  EXPECT_FALSE(costs.to_keep());
}

TEST(LearnedCosts, ASlowHostDoesNotMakeItsTasksDear) {
  // The slow host gets the short tasks: by times alone all would cost nearly the same.
  LearnedCosts costs(120, number_of, {});
  for (std::uint32_t n = 1; n <= 120; ++n) {
    const bool slow = n <= 60 ? n % 4 != 0 : n % 4 == 0;
    costs.ran(TaskId(n), HostId(slow ? 2 : 1), 1, noisy_cost(squared(n) * (slow ? 4 : 1), n));
  }
  ASSERT_TRUE(costs.known());
  EXPECT_NEAR(costs.cost(TaskId(110)) / costs.cost(TaskId(40)), squared(110) / squared(40), 1.2);
  const auto kept = costs.to_keep();
  ASSERT_TRUE(kept);
  // Seconds on the first host.
  EXPECT_NEAR(kept->predict(number_of(TaskId(100)))->value, squared(100), 0.2 * squared(100));
}

TEST(LearnedCosts, WhatAnEarlierRunKeptIsKnownFromTheBeginning) {
  LearnedCosts first(50, number_of, {});
  for (std::uint32_t n = 1; n <= 50; ++n)
    first.ran(TaskId(n), HostId(1), 1, noisy_cost(squared(n), n));
  const auto kept = RunTimeModel::from_text(first.to_keep()->to_text());
  ASSERT_TRUE(kept);
  LearnedCosts second(
      50, [](TaskId task) { return Features{task.value() + 0.5}; }, *kept);
  ASSERT_TRUE(second.known());
  EXPECT_NEAR(second.cost(TaskId(40)) * second.unit(), squared(40), 0.15 * squared(40));

  // On a machine that takes three times as long, costs stay; what is kept then is of that one.
  for (std::uint32_t n = 1; n <= 50; ++n)
    EXPECT_FALSE(second.ran(TaskId(n), HostId(1), 1, noisy_cost(3 * squared(n), n)));
  EXPECT_NEAR(second.to_keep()->predict(Features{40.0})->value, 3 * squared(40), 0.6 * squared(40));
}

TEST(LearnedCosts, ADeclaredSpeedIsBelieved) {
  LearnedCosts costs(50, number_of, {});
  for (std::uint32_t n = 1; n <= 50; ++n)
    costs.ran(TaskId(n), HostId(1), 2, noisy_cost(squared(n) / 2, n));
  EXPECT_NEAR(costs.to_keep()->predict(number_of(TaskId(40)))->value, squared(40),
              0.15 * squared(40));
}

TEST(LearnedCosts, WhatIsKeptOfOtherParametersIsNotUsed) {
  RunTimeModel other;
  for (int i = 1; i < 20; ++i) other.observe(Features{double(i), "x"}, i);
  const LearnedCosts costs(50, number_of, other);
  EXPECT_FALSE(costs.known());
}

TEST(LearnedCosts, ATaskThatCannotBeCalculatedWithCostsNothingThatIsKept) {
  RunTimeModel kept;
  for (int i = 1; i <= 30; ++i) kept.observe(Features{double(i)}, i);
  LearnedCosts costs(
      1, [](TaskId) { return Features{1e60}; }, kept);
  EXPECT_EQ(costs.cost(TaskId(1)), 1);
  costs.ran(TaskId(1), HostId(1), 1, 5);
  EXPECT_GE(costs.to_keep()->observations(), 30U);
}

TEST(LearnedCosts, WhatIsKeptMayBeAbsurd) {
  for (const double value : {0.0, 1e-300, 1e100}) {
    RunTimeModel absurd;
    for (int i = 1; i < 20; ++i) absurd.observe(Features{double(i)}, i % 3 == 0 ? 1 : value);
    LearnedCosts costs(50, number_of, absurd);
    for (std::uint32_t n = 1; n <= 50; ++n) {
      costs.ran(TaskId(n), HostId(1), 1, squared(n));
      EXPECT_TRUE(std::isfinite(costs.cost(TaskId(n)))) << value;
      EXPECT_TRUE(std::isfinite(costs.margin_from(n).above)) << value;
    }
    ASSERT_TRUE(costs.to_keep());
    EXPECT_TRUE(RunTimeModel::from_text(costs.to_keep()->to_text()));
  }
}

TEST(LearnedCosts, MoreParametersThanTasksAndTimesThatAreNone) {
  const auto many = [](TaskId task) {
    Features features;
    for (std::uint32_t i = 0; i < 20; ++i)
      features.emplace_back(std::sin(task.value() * (i + 1.0)));
    return features;
  };
  LearnedCosts costs(30, many, {});
  costs.ran(TaskId(1), HostId(1), 1, -3);
  costs.ran(TaskId(1), HostId(1), 1, std::nan(""));
  costs.ran(TaskId(1), HostId(1), 0, 1);
  for (std::uint32_t n = 2; n <= 8; ++n) costs.ran(TaskId(n), HostId(1), 1, squared(n));
  for (std::uint32_t n = 1; n <= 30; ++n) {
    EXPECT_TRUE(std::isfinite(costs.cost(TaskId(n))));
    EXPECT_GT(costs.cost(TaskId(n)), 0);
  }
}

}  // namespace
}  // namespace gantry::forecast
