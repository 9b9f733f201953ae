#include "forecast/host_paces.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>

namespace gantry::forecast {
namespace {

/// As long as `usual`, and `spread` times that, by turns.
RunTimeSample by_turns(double usual, double spread, int count) {
  RunTimeSample sample;
  for (int i = 0; i < count; ++i) sample.observe(TimePoint{}, i % 2 == 0 ? usual : usual * spread);
  return sample;
}

TEST(HostPaces, HostsOfWhichMuchWasSeenAreAsTheyWereSeen) {
  const RunTimeSample fast = by_turns(1, 1.1, 40);
  const RunTimeSample slow = by_turns(4, 1.1, 40);
  HostPaces paces;
  paces.add(fast, 1);
  paces.add(slow, 1);
  paces.settle();
  // Around the usual host, which takes twice as long as the fast one.
  EXPECT_NEAR(paces.of(&fast, 1).times, 0.5, 0.005);
  EXPECT_NEAR(paces.of(&slow, 1).times, 2, 0.02);
  EXPECT_LT(paces.of(&slow, 1).unsure, 0.02);
  // Of another one nothing is known but that hosts differ: by about log 4 / sqrt 2.
  EXPECT_DOUBLE_EQ(paces.of(nullptr, 1).times, 1);
  EXPECT_NEAR(paces.of(nullptr, 1).unsure, std::log(4) / std::sqrt(2), 0.02);
}

TEST(HostPaces, WhereTasksDifferHostsSeemToByChance) {
  // Two tasks each that differ by a factor of 100: the means of hosts differ by one of 2.
  const RunTimeSample one = by_turns(1, 100, 2);
  const RunTimeSample other = by_turns(2, 100, 2);
  HostPaces paces;
  paces.add(one, 1);
  paces.add(other, 1);
  paces.settle();
  EXPECT_DOUBLE_EQ(paces.of(&one, 1).times, 1);
  EXPECT_DOUBLE_EQ(paces.of(&other, 1).times, 1);
  EXPECT_DOUBLE_EQ(paces.of(&other, 1).unsure, 0);
}

TEST(HostPaces, TheLessWasSeenTheMoreAHostIsLikeTheOthers) {
  HostPaces paces;
  std::array<RunTimeSample, 4> known;
  for (std::size_t i = 0; i < known.size(); ++i) {
    known[i] = by_turns(i % 2 == 0 ? 1 : 4, 1.5, 20);
    paces.add(known[i], 1);
  }
  const RunTimeSample little = by_turns(4, 1.5, 1);
  paces.add(little, 1);
  paces.settle();
  const HostPace of_one = paces.of(&little, 1);
  const HostPace of_many = paces.of(&known[1], 1);
  EXPECT_GT(of_one.times, 1);
  EXPECT_LT(of_one.times, of_many.times);
  EXPECT_GT(of_one.unsure, 3 * of_many.unsure);
}

TEST(HostPaces, OneTaskOnEachTellsNothing) {
  const RunTimeSample fast = by_turns(1, 1, 1);
  const RunTimeSample slow = by_turns(50, 1, 1);
  HostPaces paces;
  paces.add(fast, 1);
  paces.add(slow, 1);
  paces.settle();
  EXPECT_DOUBLE_EQ(paces.of(&fast, 1).times, paces.of(&slow, 1).times);
}

TEST(HostPaces, HostsAreComparedByTheSpeedsThatAreDeclared) {
  // Twice as fast as declared to be half as fast: as fast as the other one.
  const RunTimeSample slow = by_turns(2, 1.1, 20);
  const RunTimeSample fast = by_turns(1, 1.1, 20);
  HostPaces paces;
  paces.add(slow, 0.5);
  paces.add(fast, 1);
  paces.settle();
  EXPECT_DOUBLE_EQ(paces.of(&slow, 0.5).times, 2);
  EXPECT_DOUBLE_EQ(paces.of(&fast, 1).times, 1);
  EXPECT_DOUBLE_EQ(paces.of(nullptr, 4).times, 0.25);
}

TEST(HostPaces, AUsualHostIsNotTheOneThatDidMost) {
  // The fast one has done eight times as many; in the middle of the two a task takes 2.
  const RunTimeSample fast = by_turns(1, 1.01, 64);
  const RunTimeSample slow = by_turns(4, 1.01, 8);
  HostPaces paces;
  paces.add(fast, 1);
  paces.add(slow, 1);
  paces.settle();
  EXPECT_NEAR(paces.of(&fast, 1).times, 0.5, 0.01);
}

TEST(HostPaces, OfNothingOrNonsenseNothingFollows) {
  HostPaces none;
  none.settle();
  EXPECT_DOUBLE_EQ(none.of(nullptr, 2).times, 0.5);
  const RunTimeSample one = by_turns(1e-25, 1.1, 20);
  const RunTimeSample other = by_turns(1e25, 1.1, 20);
  HostPaces paces;
  paces.add(one, 1e300);
  paces.add(other, std::numeric_limits<double>::quiet_NaN());
  paces.add(RunTimeSample{}, 1);
  paces.settle();
  for (const HostPace& pace : {paces.of(&one, 1e-300), paces.of(&other, 1)}) {
    EXPECT_GT(pace.times, 0);
    EXPECT_TRUE(std::isfinite(pace.times));
    EXPECT_TRUE(std::isfinite(pace.unsure));
  }
}

}  // namespace
}  // namespace gantry::forecast
