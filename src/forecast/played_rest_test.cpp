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

/// Slots of one host.
std::vector<PlayedHost> one_host(std::uint64_t slots, std::vector<double> running = {}) {
  return {{.slots = slots, .running = std::move(running)}};
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
  const auto found = play_rest({.seen = much_alike(40), .hosts = one_host(4), .waiting = 20});
  ASSERT_TRUE(found);
  EXPECT_NEAR(found->middle, 5, 0.3);
  EXPECT_GT(found->soonest, 4.5);
  EXPECT_LT(found->latest, 6);
}

TEST(PlayedRest, FewThatWereSeenSayLess) {
  EXPECT_GT(length_of({.seen = much_alike(3), .hosts = one_host(4), .waiting = 20}),
            1.5 * length_of({.seen = much_alike(40), .hosts = one_host(4), .waiting = 20}));
}

TEST(PlayedRest, OneInManyThatTakesLongMakesAnEndUnsureAndRatherLater) {
  std::vector<double> wild(40, 1.0);
  for (std::size_t i = 0; i < wild.size(); ++i)
    wild[i] = std::pow(1 - (static_cast<double>(i) + 0.5) / 40, -1 / 1.5);
  const auto found = play_rest({.seen = wild, .hosts = one_host(4), .waiting = 20});
  ASSERT_TRUE(found);
  EXPECT_GT(found->latest - found->middle, 1.5 * (found->middle - found->soonest));
  EXPECT_GT(found->latest, 2 * found->soonest);
}

TEST(PlayedRest, WhatRunsHasTakenItsTimeAlready) {
  // Short and long by turns: what has run for longer than the short ones is a long one.
  const RestOfRun begun{.seen = {0.01, 2, 0.01, 2, 0.01, 2, 0.01, 2}, .hosts = one_host(1, {0})};
  RestOfRun later = begun;
  later.hosts = one_host(1, {0.5});
  EXPECT_LT(play_rest(begun)->soonest, 0.1);
  EXPECT_NEAR(play_rest(later)->soonest, 1.5, 1e-9);
  // Longer than any: it goes on for some time that nobody knows.
  later.hosts = one_host(1, {3});
  EXPECT_GT(play_rest(later)->latest, play_rest(later)->soonest);
  EXPECT_GE(play_rest(later)->soonest, 0);
}

TEST(PlayedRest, IsTheSameEachTimeAndInAnyOrder) {
  const auto one = play_rest({.seen = {1, 5, 2}, .hosts = one_host(2, {0.1, 3}), .waiting = 7});
  const auto other = play_rest({.seen = {5, 2, 1}, .hosts = one_host(2, {3, 0.1}), .waiting = 7});
  ASSERT_TRUE(one && other);
  EXPECT_EQ(one->soonest, other->soonest);
  EXPECT_EQ(one->middle, other->middle);
  EXPECT_EQ(one->latest, other->latest);
}

TEST(PlayedRest, OfNothingOrTooMuchNothingIsSaid) {
  EXPECT_FALSE(play_rest({.hosts = one_host(1), .waiting = 1}));
  EXPECT_FALSE(play_rest({.seen = {1}, .hosts = one_host(1)}));
  EXPECT_FALSE(play_rest({.seen = {0, -1, INFINITY, NAN}, .hosts = one_host(1), .waiting = 1}));
  EXPECT_FALSE(play_rest({.seen = {1}, .waiting = 1}));
  EXPECT_FALSE(play_rest({.seen = {1}, .hosts = one_host(0, {1}), .waiting = 1}));
  EXPECT_FALSE(play_rest({.seen = {1}, .hosts = one_host(1), .waiting = kMostPlayed + 1}));
  EXPECT_FALSE(play_rest({.seen = {1}, .hosts = one_host(1, {0.1}), .waiting = kMostPlayed}));
  EXPECT_TRUE(play_rest({.seen = {1}, .hosts = one_host(1), .waiting = kMostPlayed}));
}

TEST(PlayedRest, NoMoreRunThanThereAreSlots) {
  // Three run on what is one slot now; the six that wait come one after the other.
  const auto fewer =
      play_rest({.seen = much_alike(60), .hosts = one_host(1, {0.5, 0.5, 0.5}), .waiting = 6});
  ASSERT_TRUE(fewer);
  EXPECT_NEAR(fewer->middle, 0.5 + 6, 0.5);
  EXPECT_GT(fewer->soonest, 5.5);
  // One runs on a host that drains: nothing waits for it, and nothing follows it there.
  RestOfRun run{.seen = much_alike(60), .hosts = one_host(1, {0.9}), .waiting = 1};
  run.hosts.push_back({.slots = 0, .running = {0.1}});
  const auto leaves = play_rest(run);
  ASSERT_TRUE(leaves);
  EXPECT_NEAR(leaves->middle, 0.1 + 1, 0.2);
  const auto both =
      play_rest({.seen = much_alike(60), .hosts = one_host(1, {0.9, 0.1}), .waiting = 1});
  ASSERT_TRUE(both);
  EXPECT_NEAR(both->middle, 0.9 + 1, 0.2) << "what waits begins after both";
}

TEST(PlayedRest, ASlowHostGetsLessAndTakesLonger) {
  // In 8 units of time the fast slot does 8 tasks, and the slow one 2.
  RestOfRun run{.seen = much_alike(60), .hosts = {{}, {.pace = {.times = 4}}}, .waiting = 10};
  const auto found = play_rest(run);
  ASSERT_TRUE(found);
  EXPECT_NEAR(found->middle, 8, 0.7);
  EXPECT_NEAR(even_rest(run, 1), 8, 1e-9);
  // What runs there for 2 has done a half of what takes 4 there.
  const auto halfway = play_rest(
      {.seen = much_alike(60), .hosts = {{.pace = {.times = 4}, .running = {2}}}, .waiting = 0});
  ASSERT_TRUE(halfway);
  EXPECT_NEAR(halfway->middle, 2, 0.4);
}

TEST(PlayedRest, WhatAHostWasGivenIsDoneThere) {
  // Three tasks of 4, though the other host has nothing to do after the first unit.
  RestOfRun run{.seen = much_alike(60),
                .hosts = {{.running = {0}}, {.pace = {.times = 4}, .running = {0}, .given = 2}}};
  const auto bound = play_rest(run);
  ASSERT_TRUE(bound);
  EXPECT_NEAR(bound->middle, 12, 1);
  // The other one does them meanwhile.
  run.hosts[1].given = 0;
  run.waiting = 2;
  const auto free = play_rest(run);
  ASSERT_TRUE(free);
  EXPECT_NEAR(free->middle, 4, 0.5);
}

TEST(PlayedRest, AHostGoesOnToBeGivenWhatWaits) {
  // Both hosts hold one task ahead. Of the 10 that wait the slow one gets one for each that ends,
  // and has two left when none waits any more: it ends long after 14 / (1 + 1 / 4) = 11.2.
  RestOfRun run{
      .seen = much_alike(60),
      .hosts = {{.running = {0}, .given = 1}, {.pace = {.times = 4}, .running = {0}, .given = 1}},
      .waiting = 10};
  const auto found = play_rest(run);
  ASSERT_TRUE(found);
  // Ends at 4, 8, ... there and each 1 here: after 8 units 8 + 2 have been handed over. The slow
  // one then begins its third, and has one more: 8 + 4 + 4.
  EXPECT_NEAR(found->middle, 16, 1.5);
}

TEST(PlayedRest, HostsWhosePaceIsNotKnownWellMakeTheEndUnsure) {
  RestOfRun run{.seen = much_alike(60), .hosts = one_host(2), .waiting = 20};
  const double sure = length_of(run);
  run.hosts[0].pace.unsure = 0.5;
  EXPECT_GT(length_of(run), 3 * sure);
}

TEST(PlayedRest, OfThousandsOfIdleHostsTheFastestAreUsed) {
  RestOfRun run{.seen = much_alike(60), .waiting = 3};
  for (int i = 0; i < 10'000; ++i)
    run.hosts.push_back({.pace = {.times = i % 1000 == 7 ? 1. : 9.}});
  const auto found = play_rest(run);
  ASSERT_TRUE(found);
  EXPECT_NEAR(found->middle, 1, 0.2);
}

}  // namespace
}  // namespace gantry::forecast
