#include "schedule/queue/workqueue.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "schedule/registry.hpp"

namespace gantry::schedule {
namespace {

using std::chrono::milliseconds;
using testing::ElementsAre;

Host host(std::uint32_t id, std::uint32_t cores, std::uint64_t memory = 0) {
  return Host{HostId(id), "h" + std::to_string(id), cores, memory};
}

TEST(Packing, SlotsAreLimitedByCoresAndMemory) {
  EXPECT_EQ(slots(host(1, 8, 100), {.cores = 3}), 2U);
  EXPECT_EQ(slots(host(1, 8, 100), {.cores = 1, .memory = 40}), 2U);
  EXPECT_EQ(slots(host(1, 2), {.cores = 3}), 0U);
  EXPECT_EQ(slots(host(1, 2, 10), {.cores = 1, .memory = 11}), 0U);
}

TEST(Packing, QueueAheadHoldsATenthOfASecondOfWork) {
  EXPECT_EQ(queue_ahead(4, std::nullopt), 4U);
  EXPECT_EQ(queue_ahead(4, milliseconds(10)), 40U);  // 4 slots x 100 ms / 10 ms
  EXPECT_EQ(queue_ahead(4, std::chrono::seconds(9)), 4U);
  EXPECT_EQ(queue_ahead(1, std::chrono::seconds(9)), 2U);
  EXPECT_EQ(queue_ahead(4, std::chrono::hours(1)), 0U);  // whichever host is free first takes them
  EXPECT_EQ(queue_ahead(16, Duration{0}), 2000U);
  EXPECT_EQ(queue_ahead(5000, milliseconds(1)), 5000U);
}

TEST(Packing, AdmitsSlotsPlusQueueAhead) {
  for (const std::uint32_t cores : {1U, 3U, 7U, 64U, 1000U}) {
    Load load = 0;
    std::uint32_t admitted = 0;
    const Host h = host(1, cores);
    while (admits(h, load, {.cores = 1}, std::chrono::seconds(9))) {
      load += share(h, {.cores = 1});
      ++admitted;
    }
    EXPECT_EQ(admitted, cores + std::max(cores, 2U)) << cores << " cores";
  }
}

/// Builds a World and asks the strategy.
struct Case {
  std::vector<std::pair<Host, Load>> hosts;
  std::vector<Resources> resources;
  std::vector<std::deque<std::uint64_t>> places;
  forecast::RunTimeForecast run_times;

  std::vector<Intent> plan() {
    std::vector<TaskNeeds> needs;
    for (const Resources& each : resources) needs.push_back({.resources = each});
    std::vector<ReadyClass> classes;
    for (std::size_t i = 0; i < resources.size(); ++i)
      classes.push_back({ClassId(static_cast<std::uint32_t>(i)), &needs[i], &places[i]});
    std::vector<HostLoad> loads;
    for (const auto& [at, load] : hosts) loads.push_back({&at, load});
    Workqueue workqueue;
    return workqueue.plan({TimePoint{}, classes, loads, run_times}).starts;
  }
};

std::deque<std::uint64_t> numbers(std::uint64_t first, std::size_t count) {
  std::deque<std::uint64_t> places(count);
  std::iota(places.begin(), places.end(), first);
  return places;
}

TEST(Workqueue, FillsTheLeastLoadedHostFirst) {
  Case c{{{host(1, 2), kFull / 2}, {host(2, 2), 0}}, {{.cores = 1}}, {numbers(1, 3)}, {}};
  const ClassId k(0);
  EXPECT_THAT(c.plan(),
              ElementsAre(Intent{k, HostId(2)}, Intent{k, HostId(1)}, Intent{k, HostId(2)}));
}

TEST(Workqueue, HandsOutSlotsPlusQueueAheadAndNoMore) {
  Case c{{{host(1, 2), 0}}, {{.cores = 1}}, {numbers(1, 100)}, {}};
  EXPECT_EQ(c.plan().size(), 4U);  // nothing observed yet: two slots and as many ahead
  c.run_times.observe(1, milliseconds(10));
  EXPECT_EQ(c.plan().size(), 22U);  // 2 + 2 x 100 / 10
}

TEST(Workqueue, WhereTasksTakeLongOnlyHostsWithAFreeSlotGetOne) {
  Case c{{{host(1, 1), kFull}, {host(2, 3), kFull / 3 * 2}, {host(3, 2), kFull}, {host(4, 1), 0}},
         {{.cores = 1}},
         {numbers(1, 100)},
         {}};
  c.run_times.observe(1, std::chrono::hours(1));
  EXPECT_THAT(c.plan(), ElementsAre(Intent{ClassId(0), HostId(4)}, Intent{ClassId(0), HostId(2)}));
}

TEST(Workqueue, NoTaskOvertakesAnEarlierOneThatTheHostCouldRun) {
  // The 4-core task is first; with the host at 1.75 of its capacity it must wait, and so must the
  // small one: 1.75 + 1 > 1 + 1 ahead.
  Case c{{{host(1, 4), kFull / 4 * 7}}, {{.cores = 4}, {.cores = 1}}, {{1}, {2}}, {}};
  EXPECT_TRUE(c.plan().empty());
  c.places = {{2}, {1}};
  EXPECT_THAT(c.plan(), ElementsAre(Intent{ClassId(1), HostId(1)}));
}

TEST(Workqueue, AHostPassesOverTasksThatNeverFitThere) {
  Case c{{{host(1, 1), 0}, {host(2, 8), 0}}, {{.cores = 8}, {.cores = 1}}, {{1, 2}, {3}}, {}};
  const auto plan = c.plan();
  EXPECT_EQ(std::ranges::count(plan, Intent{ClassId(0), HostId(2)}), 2);
  EXPECT_EQ(std::ranges::count(plan, Intent{ClassId(1), HostId(1)}), 1);
}

TEST(Registry, EveryNameMakesAStrategy) {
  for (const auto name : strategy_names()) EXPECT_TRUE(make_scheduler(name)) << name;
  EXPECT_TRUE(make_scheduler(kDefaultStrategy));
}

TEST(Registry, AnUnknownNameListsTheKnownOnes) {
  const auto made = make_scheduler("gant");
  ASSERT_FALSE(made);
  EXPECT_THAT(made.error().hint, testing::HasSubstr("workqueue"));
}

}  // namespace
}  // namespace gantry::schedule
