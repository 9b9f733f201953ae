#include "schedule/queue/dealt.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

namespace gantry::schedule {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::Gt;

/// Ten tasks of a class, and three hosts of one core each.
struct DealtCase {
  std::vector<Host> machines{{HostId(1), "a", 1}, {HostId(2), "b", 1}, {HostId(3), "c", 1}};
  TaskNeeds needs;
  std::deque<std::uint64_t> places = std::deque<std::uint64_t>(300);
  forecast::RunTimeForecast run_times;
  std::size_t turn = 1000;

  DealtCase() {
    std::iota(places.begin(), places.end(), 1);
    run_times.observe(1, std::chrono::hours(1));  // so long that nothing lies ahead
  }
  std::vector<std::uint32_t> hosts_of(Dealt& strategy, std::vector<Load> loads = {0, 0, 0}) {
    std::vector<HostLoad> hosts;
    for (std::size_t i = 0; i < machines.size(); ++i) hosts.push_back({&machines[i], loads[i]});
    const std::vector<ReadyClass> classes{{ClassId(1), &needs, &places}};
    std::vector<std::uint32_t> result;
    for (const Intent& intent : strategy
                                    .plan({.now = TimePoint{},
                            .classes = classes,
                            .hosts = hosts,
                            .run_times = run_times,
                            .ready = places.size(),
                            .turn = turn})
                                    .starts) {
      result.push_back(intent.host.value());
      places.pop_front();
    }
    return result;
  }
};

TEST(Dealt, InTurnMeansEqualShares) {
  DealtCase world;
  Dealt strategy(Deal::in_turn, 0);
  std::vector<std::uint32_t> count(4);
  while (!world.places.empty())
    for (const std::uint32_t host : world.hosts_of(strategy)) ++count[host];
  EXPECT_THAT(count, ElementsAre(0, 100, 100, 100));
}

TEST(Dealt, AHostThatIsFullKeepsItsShareWaiting) {
  DealtCase world;
  Dealt strategy(Deal::in_turn, 0);
  std::vector<std::uint32_t> count(4);
  for (int i = 0; i < 1000; ++i)
    for (const std::uint32_t host : world.hosts_of(strategy, {0, kFull, 0})) ++count[host];
  EXPECT_THAT(count, ElementsAre(0, 100, 0, 100));
}

TEST(Dealt, WhatIsLeftWhenTheTurnIsOverKeepsItsHost) {
  DealtCase world;
  Dealt strategy(Deal::in_turn, 0);
  world.turn = 2;
  EXPECT_THAT(world.hosts_of(strategy), ElementsAre(1, 2));
  EXPECT_THAT(world.hosts_of(strategy, {kFull, kFull, 0}), ElementsAre(3));
}

TEST(Dealt, WhatIsLeftIsDealtAnewWhenAHostGoes) {
  DealtCase world;
  Dealt strategy(Deal::in_turn, 0);
  world.hosts_of(strategy);
  world.machines.pop_back();
  strategy.observe(HostDown{HostId(3)});
  std::size_t started = 3;
  while (!world.places.empty()) started += world.hosts_of(strategy, {0, 0}).size();
  EXPECT_EQ(started, 300U);
}

TEST(Dealt, ByChanceFollowsFromTheSeed) {
  const auto shares = [](std::uint64_t seed) {
    DealtCase world;
    Dealt strategy(Deal::by_chance, seed);
    std::vector<std::uint32_t> count(3);
    while (!world.places.empty())
      for (const std::uint32_t host : world.hosts_of(strategy)) ++count[host - 1];
    return count;
  };
  EXPECT_EQ(shares(1), shares(1));
  EXPECT_NE(shares(1), shares(2));
  EXPECT_THAT(shares(1), Each(Gt(70U)));  // of 300; a standard deviation is 8
}

}  // namespace
}  // namespace gantry::schedule
