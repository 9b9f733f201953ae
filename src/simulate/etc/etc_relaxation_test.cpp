#include "simulate/etc/etc_relaxation.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>

#include "simulate/etc/etc_generator.hpp"
#include "simulate/etc/etc_reference.hpp"

namespace gantry::simulate {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;

schedule::LoadBalance relaxed(const std::vector<double>& times, const std::vector<double>& loads) {
  return relax(times, loads, {});
}

TEST(EtcRelaxation, CutsTasksIntoParts) {
  // 3/4 of the task take 1.5 on the first machine, the rest 1.5 on the second.
  const auto one = relaxed({2, 6}, {0, 0});
  EXPECT_NEAR(one.bound, 1.5, 1e-9);
  EXPECT_THAT(one.parts, ElementsAre(DoubleNear(0.75, 1e-6), DoubleNear(0.25, 1e-6)));
  // Prices p and 1 - p with 2 p = 6 (1 - p).
  EXPECT_THAT(one.prices, ElementsAre(DoubleNear(0.75, 1e-6), DoubleNear(0.25, 1e-6)));
  // Alike machines share what there is: (3 + 4 + 5) / 3.
  EXPECT_NEAR(relaxed({3, 3, 3, 4, 4, 4, 5, 5, 5}, {0, 0, 0}).bound, 4, 1e-9);
  EXPECT_NEAR(relaxed({3, 4, 5}, {0}).bound, 12, 1e-9);
}

TEST(EtcRelaxation, CountsWhatMachinesHaveToDoAlready) {
  EXPECT_NEAR(relaxed({4, 4}, {0, 10}).bound, 10, 1e-9);
  // 8 on the first machine make it 9, 2 on the other as well.
  EXPECT_NEAR(relaxed({10, 10}, {1, 7}).bound, 9, 1e-9);
  EXPECT_NEAR(relaxed({}, {1, 7}).bound, 7, 1e-9);
}

TEST(EtcRelaxation, NothingTakesNoTime) {
  const auto nothing = relaxed({0, 0, 0, 0}, {0, 0});
  EXPECT_EQ(nothing.bound, 0);
  EXPECT_EQ(nothing.prices.size(), 2U);
  EXPECT_EQ(nothing.parts.size(), 4U);
  EXPECT_NEAR(relaxed({0, 5, 5, 0}, {0, 0}).bound, 0, 1e-9);
}

TEST(EtcRelaxation, ATaskThatCannotBeCutIsABoundToo) {
  EXPECT_NEAR(etc_lower_bound(EtcMatrix::make(1, 2, {2, 6}).value()), 2, 1e-9);
  EXPECT_NEAR(etc_lower_bound(EtcMatrix::make(3, 2, {2, 2, 2, 2, 2, 2}).value()), 3, 1e-9);
}

/// Of generate_etc(class, 64, 8, 1), by COIN-OR's simplex.
TEST(EtcRelaxation, AgreesWithASimplex) {
  const std::pair<std::string_view, double> golden[] = {
      {"u_c_hihi", 2968771.66375509}, {"u_c_hilo", 46030.68447432},
      {"u_c_lohi", 99647.44812695},   {"u_c_lolo", 1545.82314999},
      {"u_i_hihi", 1762015.89937209}, {"u_i_hilo", 29235.50347663},
      {"u_i_lohi", 59137.90631182},   {"u_i_lolo", 981.65815281},
      {"u_s_hihi", 2140828.30315583}, {"u_s_hilo", 34593.75045680},
      {"u_s_lohi", 71855.38982009},   {"u_s_lolo", 1161.58719836},
  };
  for (const auto& [name, bound] : golden) {
    const auto matrix = generate_etc(parse_class(name).value(), 64, 8, 1);
    EXPECT_NEAR(etc_lower_bound(matrix), bound, 1e-9 * bound) << name;
  }
}

TEST(EtcRelaxation, ItsPartsNeedNoMoreTimeThanItsBound) {
  EXPECT_TRUE(rc::check([] {
    const auto machines = *rc::gen::inRange<std::size_t>(1, 8);
    const auto tasks = *rc::gen::inRange<std::size_t>(1, 40);
    const auto numbers = [](std::size_t count) {
      const auto ints = *rc::gen::container<std::vector<int>>(
          count, rc::gen::resize(100, rc::gen::inRange(0, 1000)));
      return std::vector<double>(ints.begin(), ints.end());
    };
    const auto times = numbers(tasks * machines);
    auto loads = numbers(machines);
    const auto result = relaxed(times, loads);
    for (std::size_t task = 0; task < tasks; ++task) {
      double whole = 0;
      for (std::size_t j = 0; j < machines; ++j) {
        const double part = result.parts[task * machines + j];
        RC_ASSERT(part >= 0);
        whole += part;
        loads[j] += part * times[task * machines + j];
      }
      RC_ASSERT(std::abs(whole - 1) < 1e-6);
    }
    // Both at once only hold at the optimum.
    RC_ASSERT(*std::ranges::max_element(loads) <= result.bound + 1e-5 * (1 + result.bound));
  }));
}

TEST(EtcRelaxation, NoScheduleIsBetterThanTheBound) {
  EXPECT_TRUE(rc::check([] {
    const auto machines = *rc::gen::inRange<std::size_t>(1, 4);
    const auto tasks = *rc::gen::inRange<std::size_t>(1, 7);
    const auto times =
        *rc::gen::container<std::vector<int>>(tasks * machines, rc::gen::inRange(0, 50));
    const auto matrix = EtcMatrix::make(tasks, machines, {times.begin(), times.end()}).value();
    const double optimum = brute_force_makespan(matrix);
    RC_ASSERT(etc_lower_bound(matrix) <= optimum * (1 + 1e-12));
    // Stopped at once it is still a bound.
    RC_ASSERT(etc_lower_bound(matrix, [] { return true; }) <= optimum * (1 + 1e-12));
  }));
}

}  // namespace
}  // namespace gantry::simulate
