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
  Turns::Queue queue(turns, waiting);
  for (int i = 0; i < starts; ++i) {
    ++given[queue.next()];
    queue.pay(1);
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
  Turns::Queue queue(turns, {kFirst, kSecond});
  for (int i = 0; i < 400; ++i) {
    const bool is_first = queue.next() == kFirst;
    long_ones += is_first ? 1 : 0;
    queue.pay(is_first ? 3 : 1);
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
    Turns::Queue queue(turns, {kFirst, kSecond});
    ++given[queue.next()];
    queue.leave(1);
    queue.leave(0);
  }
  EXPECT_NEAR(given[kFirst], 100, 1);
  EXPECT_NEAR(given[kSecond], 300, 1);
}

TEST(Turns, ATurnLastsUntilAnotherHasPaidLess) {
  Turns turns;
  turns.add(kFirst, 2);
  turns.add(kSecond, 1);
  EXPECT_TRUE(std::isinf(Turns::Queue(turns, {kFirst}).turn()));
  Turns::Queue queue(turns, {kFirst, kSecond});
  EXPECT_EQ(queue.next(), kFirst);
  EXPECT_EQ(queue.turn(), 0);
  queue.pay(1);
  EXPECT_EQ(queue.next(), kSecond);
  queue.pay(3);
  EXPECT_EQ(queue.next(), kFirst);
  EXPECT_EQ(queue.turn(), 5);  // 3 less the half that it has paid, for each unit of its weight of 2
}

}  // namespace
}  // namespace gantry::schedule
