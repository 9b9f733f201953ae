#include "schedule/share/turns.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace gantry::schedule {
namespace {

constexpr RunId kFirst{1};
constexpr RunId kSecond{2};
constexpr RunId kThird{3};

/// How many of `starts` starts, each of the same cost, every run gets.
std::map<RunId, int> deal(Turns& turns, const std::set<RunId>& waiting, int starts) {
  std::map<RunId, int> given;
  turns.set_backlog(waiting);
  for (int i = 0; i < starts; ++i) {
    const RunId run = turns.next(waiting);
    ++given[run];
    turns.pay(run, 1);
  }
  return given;
}

TEST(Turns, FollowWeights) {
  Turns turns;
  turns.add(kFirst, 1);
  turns.add(kSecond, 2);
  turns.add(kThird, 1);
  const auto given = deal(turns, {kFirst, kSecond, kThird}, 400);
  EXPECT_NEAR(given.at(kFirst), 100, 1);
  EXPECT_NEAR(given.at(kSecond), 200, 1);
  EXPECT_NEAR(given.at(kThird), 100, 1);
}

TEST(Turns, CountWhatStartsCost) {
  Turns turns;
  turns.add(kFirst, 1);
  turns.add(kSecond, 1);
  int long_ones = 0;
  for (int i = 0; i < 400; ++i) {
    const RunId run = turns.next({kFirst, kSecond});
    long_ones += run == kFirst ? 1 : 0;
    turns.pay(run, run == kFirst ? 3 : 1);
  }
  EXPECT_NEAR(long_ones, 100, 1);  // three times as long, a third as many as the other's 300
}

TEST(Turns, WhoHadNothingToStartIsOwedNothing) {
  Turns turns;
  turns.add(kFirst, 1);
  turns.add(kSecond, 1);
  EXPECT_EQ(deal(turns, {kFirst}, 1000).at(kFirst), 1000);
  turns.set_backlog({kFirst});
  const auto given = deal(turns, {kFirst, kSecond}, 100);
  EXPECT_NEAR(given.at(kFirst), 50, 1);
  EXPECT_NEAR(given.at(kSecond), 50, 1);
}

TEST(Turns, ANewcomerBeginsWhereOthersAre) {
  Turns turns;
  turns.add(kFirst, 1);
  deal(turns, {kFirst}, 1000);
  turns.set_backlog({kFirst});
  turns.add(kSecond, 1);
  EXPECT_NEAR(deal(turns, {kFirst, kSecond}, 100).at(kSecond), 50, 1);
}

TEST(Turns, WhoFindsNoRoomKeepsItsTurn) {
  Turns turns;
  turns.add(kFirst, 1);
  turns.add(kSecond, 3);
  turns.set_backlog({kFirst, kSecond});
  std::map<RunId, int> given;
  for (int i = 0; i < 400; ++i) {
    // One place is free: whose turn it is takes it, and the other is asked in vain.
    turns.set_backlog({kFirst, kSecond});
    const RunId run = turns.next({kFirst, kSecond});
    ++given[run];
    turns.pay(run, 1);
    const RunId other = turns.next({run == kFirst ? kSecond : kFirst});
    turns.pay(other, 0);
  }
  EXPECT_NEAR(given[kFirst], 100, 1);
  EXPECT_NEAR(given[kSecond], 300, 1);
}

TEST(Turns, ATurnLastsUntilAnotherHasPaidLess) {
  Turns turns;
  turns.add(kFirst, 2);
  turns.add(kSecond, 1);
  EXPECT_TRUE(std::isinf(turns.turn_of(kFirst, {kFirst})));
  EXPECT_EQ(turns.turn_of(kFirst, {kFirst, kSecond}), 0);
  turns.pay(kSecond, 3);
  EXPECT_EQ(turns.turn_of(kFirst, {kFirst, kSecond}), 6);  // 3 for each unit of its weight of 2
}

}  // namespace
}  // namespace gantry::schedule
