#include "schedule/gantt/heuristic.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace gantry::schedule {
namespace {

Priority of(Heuristic heuristic, Seconds returned, Seconds other, Seconds end = 0, double work = 1,
            std::uint32_t rank = 0) {
  return priority(heuristic, {returned, end, 0}, other, work, rank);
}

TEST(Heuristic, EachHasItsName) {
  EXPECT_EQ(name(Heuristic::min_min), "min-min");
  EXPECT_EQ(name(Heuristic::max_min), "max-min");
  EXPECT_EQ(name(Heuristic::sufferage), "sufferage");
  EXPECT_EQ(name(Heuristic::xsufferage), "xsufferage");
}

TEST(Heuristic, MinMinTakesTheFirstCompletionMaxMinTheLast) {
  EXPECT_LT(of(Heuristic::min_min, 5, 9), of(Heuristic::min_min, 6, 7));
  EXPECT_LT(of(Heuristic::max_min, 6, 7), of(Heuristic::max_min, 5, 9));
}

TEST(Heuristic, SufferageTakesTheGreatestLoss) {
  for (const auto heuristic : {Heuristic::sufferage, Heuristic::xsufferage}) {
    EXPECT_LT(of(heuristic, 5, 9), of(heuristic, 1, 4));  // loses 4, loses 3
    // Without a second choice the loss is infinite; of two such the first completion is next.
    EXPECT_LT(of(heuristic, 50, kInfinite), of(heuristic, 1, 1000));
    EXPECT_LT(of(heuristic, 49, kInfinite), of(heuristic, 50, kInfinite));
  }
}

TEST(Heuristic, TiesAreDecidedByTheEndThenTheWorkThenTheRank) {
  EXPECT_LT(of(Heuristic::min_min, 5, 9, 3), of(Heuristic::min_min, 5, 9, 4));
  EXPECT_LT(of(Heuristic::max_min, 5, 9, 4), of(Heuristic::max_min, 5, 9, 3));
  EXPECT_LT(of(Heuristic::min_min, 5, 9, 3, 1), of(Heuristic::min_min, 5, 9, 3, 2));
  EXPECT_LT(of(Heuristic::max_min, 5, 9, 3, 2), of(Heuristic::max_min, 5, 9, 3, 1));
  for (const auto heuristic : {Heuristic::min_min, Heuristic::max_min, Heuristic::sufferage})
    EXPECT_LT(of(heuristic, 5, 9, 3, 1, 7), of(heuristic, 5, 9, 3, 1, 8));
}

TEST(TieRanks, AreAnOrderThatDependsOnTheSeed) {
  Situation situation;
  situation.classes.resize(5);
  situation.hosts.resize(3);
  EXPECT_THAT(TieRanks(situation, 1).of_class, testing::UnorderedElementsAre(0, 1, 2, 3, 4));
  EXPECT_EQ(TieRanks(situation, 1).of_class, TieRanks(situation, 1).of_class);
  std::set<std::vector<std::uint32_t>> orders;
  for (std::uint64_t seed = 0; seed < 100; ++seed) orders.insert(TieRanks(situation, seed).of_host);
  EXPECT_EQ(orders.size(), 6U);  // all orders of three come up
}

}  // namespace
}  // namespace gantry::schedule
