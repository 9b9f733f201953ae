#include "forecast/played_rest.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace gantry::forecast {
namespace {

/// From 0.9 to 1.1.
std::vector<double> much_alike(std::size_t count) {
  std::vector<double> times;
  for (std::size_t i = 0; i < count; ++i)
    times.push_back(0.9 + 0.2 * static_cast<double>(i) / static_cast<double>(count - 1));
  return times;
}

double length_of(const RestOfRun& rest) {
  const auto found = play_rest(rest);
  EXPECT_TRUE(found);
  EXPECT_LE(found->soonest, found->middle);
  EXPECT_LE(found->middle, found->latest);
  return found->latest - found->soonest;
}

TEST(PlayedRest, OfTasksThatAreAlikeTheEndIsSure) {
  // 20 tasks of 1 on 4 slots: 5 rounds.
  const auto found = play_rest({.seen = much_alike(40), .waiting = 20, .slots = 4});
  ASSERT_TRUE(found);
  EXPECT_NEAR(found->middle, 5, 0.3);
  EXPECT_GT(found->soonest, 4.5);
  EXPECT_LT(found->latest, 6);
}

TEST(PlayedRest, FewThatWereSeenSayLess) {
  EXPECT_GT(length_of({.seen = much_alike(3), .waiting = 20, .slots = 4}),
            1.5 * length_of({.seen = much_alike(40), .waiting = 20, .slots = 4}));
}

TEST(PlayedRest, OneInManyThatTakesLongMakesAnEndUnsureAndRatherLater) {
  std::vector<double> wild(40, 1.0);
  for (std::size_t i = 0; i < wild.size(); ++i)
    wild[i] = std::pow(1 - (static_cast<double>(i) + 0.5) / 40, -1 / 1.5);
  const auto found = play_rest({.seen = wild, .waiting = 20, .slots = 4});
  ASSERT_TRUE(found);
  EXPECT_GT(found->latest - found->middle, 1.5 * (found->middle - found->soonest));
  EXPECT_GT(found->latest, 2 * found->soonest);
}

TEST(PlayedRest, WhatRunsHasTakenItsTimeAlready) {
  // Short and long by turns: what has run for longer than the short ones is a long one.
  const RestOfRun begun{.seen = {0.01, 2, 0.01, 2, 0.01, 2, 0.01, 2}, .running = {0}, .slots = 1};
  RestOfRun later = begun;
  later.running = {0.5};
  EXPECT_LT(play_rest(begun)->soonest, 0.1);
  EXPECT_NEAR(play_rest(later)->soonest, 1.5, 1e-9);
  // Longer than any: it goes on for some time that nobody knows.
  later.running = {3};
  EXPECT_GT(play_rest(later)->latest, play_rest(later)->soonest);
  EXPECT_GE(play_rest(later)->soonest, 0);
}

TEST(PlayedRest, IsTheSameEachTimeAndInAnyOrder) {
  const auto one = play_rest({.seen = {1, 5, 2}, .running = {0.1, 3}, .waiting = 7, .slots = 2});
  const auto other = play_rest({.seen = {5, 2, 1}, .running = {3, 0.1}, .waiting = 7, .slots = 2});
  ASSERT_TRUE(one && other);
  EXPECT_EQ(one->soonest, other->soonest);
  EXPECT_EQ(one->middle, other->middle);
  EXPECT_EQ(one->latest, other->latest);
}

TEST(PlayedRest, OfNothingOrTooMuchNothingIsSaid) {
  EXPECT_FALSE(play_rest({.waiting = 1, .slots = 1}));
  EXPECT_FALSE(play_rest({.seen = {1}, .slots = 1}));
  EXPECT_FALSE(play_rest({.seen = {0, -1, INFINITY, NAN}, .waiting = 1, .slots = 1}));
  EXPECT_FALSE(play_rest({.seen = {1}, .waiting = 1}));
  EXPECT_FALSE(play_rest({.seen = {1}, .waiting = kMostPlayed + 1, .slots = 1}));
  EXPECT_TRUE(play_rest({.seen = {1}, .waiting = kMostPlayed, .slots = 1}));
}

TEST(PlayedRest, NoMoreRunThanThereAreSlots) {
  // Three run on what is one slot now; the six that wait come one after the other.
  const auto fewer =
      play_rest({.seen = much_alike(60), .running = {0.5, 0.5, 0.5}, .waiting = 6, .slots = 1});
  ASSERT_TRUE(fewer);
  EXPECT_NEAR(fewer->middle, 0.5 + 6, 0.5);
  EXPECT_GT(fewer->soonest, 5.5);
  // One runs on a host that drains: nothing waits for it, and nothing follows it there.
  const auto leaves = play_rest(
      {.seen = much_alike(60), .running = {0.9}, .leaving = {0.1}, .waiting = 1, .slots = 1});
  ASSERT_TRUE(leaves);
  EXPECT_NEAR(leaves->middle, 0.1 + 1, 0.2);
  const auto both =
      play_rest({.seen = much_alike(60), .running = {0.9, 0.1}, .waiting = 1, .slots = 1});
  ASSERT_TRUE(both);
  EXPECT_NEAR(both->middle, 0.9 + 1, 0.2) << "what waits begins after both";
}

}  // namespace
}  // namespace gantry::forecast
