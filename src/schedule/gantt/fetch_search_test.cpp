#include "schedule/gantt/fetch_search.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>

#include "schedule/gantt/random_case.hpp"
#include "schedule/gantt/sched.hpp"
#include "schedule/steady_estimates.hpp"

namespace gantry::schedule {
namespace {

using testing::DoubleEq;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

/// One file of 100 bytes, two sites with a host each, 10 and 1 bytes a second from home.
struct TwoSites {
  Situation situation{
      .files = {{100}},
      .classes = {{.waiting = 4, .work = 10, .files = {0}}},
      .sites = {{.file_from = {kInfinite}}, {.file_from = {kInfinite}}},
      .hosts = {{.site = 0}, {.site = 1}},
  };
  SteadyEstimates estimates;

  TwoSites() {
    estimates.speeds = {1, 1};
    estimates.links = {{.latency = 0, .bandwidth = 10}, {.latency = 0, .bandwidth = 1}};
  }
  [[nodiscard]] FetchPlan search(const FetchLists& start) const {
    return search_fetches(situation, estimates, {start}, {});
  }
};

TEST(FetchDecoder, TasksWaitForTheirFiles) {
  const TwoSites world;
  const FetchDecoder decoder(world.situation, world.estimates);
  const Decoded one = decoder.decode({{0}, {}}, 1000, true);
  EXPECT_THAT(one.makespan, DoubleEq(10 + 4 * 10));
  EXPECT_THAT(one.left_over, DoubleEq(0));
  ASSERT_THAT(one.plan.transfers, SizeIs(1));
  EXPECT_THAT(one.plan.transfers[0].end, DoubleEq(10));
  EXPECT_THAT(one.plan.tasks, SizeIs(4));
  EXPECT_THAT(decoder.decode({{}, {}}, 1000, false).left_over, DoubleEq(40));
}

TEST(FetchDecoder, WhatEndsAfterTheDeadlineIsLeftOver) {
  const TwoSites world;
  const FetchDecoder decoder(world.situation, world.estimates);
  EXPECT_THAT(decoder.decode({{0}, {}}, 40, false).left_over, DoubleEq(10));
  EXPECT_THAT(decoder.decode({{0}, {}}, 39.9, false).left_over, DoubleEq(20));
}

TEST(FetchDecoder, TheLargestTaskThatFitsGoesFirst) {
  TwoSites world;
  world.situation.classes = {{.waiting = 1, .work = 30, .files = {0}},
                             {.waiting = 1, .work = 5, .files = {0}},
                             {.waiting = 1, .work = 20, .files = {0}}};
  const FetchDecoder decoder(world.situation, world.estimates);
  const Decoded decoded = decoder.decode({{0}, {}}, 36, true);
  ASSERT_THAT(decoded.plan.tasks, SizeIs(2));
  EXPECT_EQ(decoded.plan.tasks[0].task_class, 2U);  // 30 would end at 40
  EXPECT_EQ(decoded.plan.tasks[1].task_class, 1U);
  EXPECT_THAT(decoded.left_over, DoubleEq(30));
}

TEST(FetchSearch, FetchesWhereItPays) {
  const TwoSites world;
  // Both sites: 100 s until the file is at the second one.
  const FetchPlan found = world.search({{0}, {0}});
  EXPECT_THAT(found.makespan, DoubleEq(50));
  EXPECT_THAT(found.lists, ElementsAre(ElementsAre(0U), IsEmpty()));
}

TEST(FetchSearch, FetchesAtASecondSiteWhenThereIsMuchToDo) {
  TwoSites world;
  world.situation.classes[0].waiting = 100;
  const FetchPlan found = world.search({{0}, {}});
  EXPECT_THAT(found.lists, ElementsAre(ElementsAre(0U), ElementsAre(0U)));
  EXPECT_LE(found.makespan, 560);  // (1,000 + 10 + 100) / 2, and less than a task
}

TEST(FetchSearch, SaysNothingWhenNothingCanBeDone) {
  TwoSites world;
  world.estimates.speeds = {0, 0};
  EXPECT_THAT(world.search({{0}, {0}}).plan.tasks, IsEmpty());
}

/// Each task once, on hosts one after the other, after its files.
void check_plan(const Situation& situation, const FetchPlan& found) {
  std::map<std::uint32_t, std::uint32_t> count;
  std::map<std::uint32_t, Seconds> busy_until;
  auto tasks = found.plan.tasks;
  std::ranges::stable_sort(tasks, {}, &PlannedTask::start);
  for (const PlannedTask& task : tasks) {
    ++count[task.task_class];
    const PlanHost& host = situation.hosts[task.host];
    auto& busy = busy_until.try_emplace(task.host, std::max(host.free_from, 0.0)).first->second;
    RC_ASSERT(task.start >= busy);
    busy = task.end;
    RC_ASSERT(task.end <= found.makespan);
    for (const std::uint32_t file : situation.classes[task.task_class].files) {
      Seconds there = situation.sites[host.site].file_from[file];
      for (const PlannedTransfer& transfer : found.plan.transfers)
        if (transfer.index == file && transfer.site == host.site)
          there = std::min(there, transfer.end);
      RC_ASSERT(there <= task.start);
    }
  }
  for (std::uint32_t c = 0; c < situation.classes.size(); ++c)
    RC_ASSERT(count[c] == situation.classes[c].waiting);
}

RC_GTEST_PROP(FetchSearchProperty, PlansAreSound, ()) {
  const RandomCase made = random_case::any();
  const GanttPlan start = sched(made.situation, made.estimates, {.heuristic = Heuristic::min_min});
  const auto all = [&] {
    std::size_t waiting = 0;
    for (const TaskClass& task : made.situation.classes) waiting += task.waiting;
    return waiting;
  };
  RC_PRE(start.tasks.size() == all());  // else some can be done nowhere
  const FetchPlan found =
      search_fetches(made.situation, made.estimates,
                     {fetches_of(start, made.situation.sites.size())}, {.decodings = 40});
  RC_PRE(found.makespan < kInfinite);
  check_plan(made.situation, found);
}

}  // namespace
}  // namespace gantry::schedule
