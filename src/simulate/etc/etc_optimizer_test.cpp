#include "simulate/etc/etc_optimizer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <limits>
#include <set>

#include "simulate/etc/etc_generator.hpp"
#include "simulate/etc/etc_heuristics.hpp"
#include "simulate/etc/etc_reference.hpp"

namespace gantry::simulate {
namespace {

using ::testing::ElementsAre;

double best_heuristic(const EtcMatrix& matrix) {
  double best = std::numeric_limits<double>::infinity();
  for (const EtcHeuristic heuristic : kEtcHeuristics)
    best = std::min(best, makespan(matrix, apply_heuristic(heuristic, matrix)));
  return best;
}

TEST(EtcOptimizer, FindsWhatTheHeuristicsMiss) {
  // Two machines alike, 3 3 2 2 2: 3 + 3 and 2 + 2 + 2. The heuristics' 7 is not it.
  const auto matrix = EtcMatrix::make(5, 2, {3, 3, 3, 3, 2, 2, 2, 2, 2, 2}).value();
  EXPECT_EQ(best_heuristic(matrix), 7);
  const auto found = optimize_etc(matrix, {.max_moves = 200});
  EXPECT_EQ(found.makespan, 6);
  EXPECT_NEAR(found.bound, 6, 1e-9);
  EXPECT_LT(found.moves, 200U);  // it stops at the bound
}

TEST(EtcOptimizer, TakesAnySize) {
  const auto one = optimize_etc(EtcMatrix::make(2, 1, {3, 4}).value(), {.max_moves = 3});
  EXPECT_THAT(one.schedule, ElementsAre(0, 0));
  EXPECT_EQ(one.makespan, 7);
  EXPECT_EQ(optimize_etc(EtcMatrix::make(1, 3, {3, 2, 4}).value(), {.max_moves = 3}).makespan, 2);
  EXPECT_EQ(optimize_etc(EtcMatrix::make(2, 2, {0, 0, 0, 0}).value(), {.max_moves = 3}).makespan,
            0);
}

TEST(EtcOptimizer, IsNearTheBoundOnEveryClass) {
  for (const EtcClass& etc_class : all_etc_classes()) {
    const auto matrix = generate_etc(etc_class, 160, 4, 1);
    const auto found = optimize_etc(matrix, {.max_moves = 20});
    EXPECT_EQ(found.makespan, makespan(matrix, found.schedule));
    EXPECT_LT(found.makespan, 1.01 * found.bound) << class_name(etc_class);
    EXPECT_GE(found.makespan, found.bound) << class_name(etc_class);
  }
}

TEST(EtcOptimizer, TheSeedDecides) {
  const auto matrix = generate_etc({EtcConsistency::consistent, false, false}, 64, 8, 1);
  const auto found = [&](std::uint64_t seed) {
    return optimize_etc(matrix, {.seed = seed, .max_moves = 30}).schedule;
  };
  EXPECT_EQ(found(1), found(1));
  std::set<EtcSchedule> all;
  for (std::uint64_t seed = 1; seed <= 4; ++seed) all.insert(found(seed));
  EXPECT_GT(all.size(), 1U);
}

TEST(EtcOptimizer, StopsWhenItIsTold) {
  const auto matrix = generate_etc({}, 96, 8, 1);
  const auto at_once = optimize_etc(matrix, {.stop = [] { return true; }});
  EXPECT_EQ(at_once.schedule, apply_heuristic(EtcHeuristic::min_min, matrix));
  EXPECT_EQ(at_once.bound, 0);
  // At whatever question: there is a schedule, and no further question.
  for (int limit = 1; limit < 200; limit += 7) {
    int asked = 0;
    const auto found = optimize_etc(matrix, {.stop = [&] { return ++asked > limit; }});
    EXPECT_EQ(found.makespan, makespan(matrix, found.schedule));
    EXPECT_LE(asked, limit + 5);  // one for each loop that it is in
  }
}

TEST(EtcOptimizer, IsBetweenTheOptimumAndTheHeuristics) {
  EXPECT_TRUE(rc::check([] {
    const auto machines = *rc::gen::inRange<std::size_t>(1, 4);
    const auto tasks = *rc::gen::inRange<std::size_t>(1, 7);
    const auto times =
        *rc::gen::container<std::vector<int>>(tasks * machines, rc::gen::inRange(0, 50));
    const auto matrix = EtcMatrix::make(tasks, machines, {times.begin(), times.end()}).value();
    const auto found = optimize_etc(matrix, {.max_moves = 20});
    RC_ASSERT(found.schedule.size() == tasks);
    RC_ASSERT(
        std::ranges::all_of(found.schedule, [&](auto machine) { return machine < machines; }));
    RC_ASSERT(found.makespan == makespan(matrix, found.schedule));
    RC_ASSERT(found.makespan >= brute_force_makespan(matrix));
    RC_ASSERT(found.makespan <= best_heuristic(matrix));
    RC_ASSERT(found.bound <= found.makespan * (1 + 1e-12));
  }));
}

}  // namespace
}  // namespace gantry::simulate
