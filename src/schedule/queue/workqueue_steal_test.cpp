#include "schedule/queue/workqueue_steal.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "schedule/queue/workqueue.hpp"

namespace gantry::schedule {
namespace {

using std::chrono::seconds;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr SiteId kIdleSite(1);

TimePoint second(int s) {
  return TimePoint{} + std::chrono::hours(1) + seconds(s);
}

/// Hosts 1, 2, ... with what they were given; a second has passed since the hour.
struct Helpers {
  struct Machine {
    Host host;
    std::vector<Ongoing> given{};
  };
  std::vector<Machine> machines;
  std::map<std::uint32_t, TaskNeeds> needs{};  ///< of tasks that need more than a core
  std::vector<SiteFiles> sites{};
  std::deque<std::uint64_t> ready{};
  forecast::RunTimeForecast run_times{};
  int now = 100;

  Plan plan(Scheduler&& strategy = WorkqueueSteal()) {
    const auto needs_of = [this](TaskId task) { return needs[task.value()]; };
    std::vector<HostLoad> loads;
    for (const Machine& each : machines) {
      Load load = 0;
      for (const Ongoing& one : each.given) load += share(each.host, needs_of(one.task).resources);
      loads.push_back({&each.host, load, each.given});
    }
    const TaskNeeds plain;
    std::vector<ReadyClass> classes;
    if (!ready.empty()) classes.push_back({ClassId(1), &plain, &ready});
    return strategy.plan({.now = second(now),
                          .classes = classes,
                          .hosts = loads,
                          .run_times = run_times,
                          .ready = ready.size(),
                          .sites = sites,
                          .needs_of = needs_of});
  }
};

Helpers::Machine helper(std::uint32_t id, std::vector<Ongoing> given = {}, SiteId site = kHome,
                        std::uint32_t cores = 1) {
  return {{.id = HostId(id), .name = "h", .cores = cores, .memory = 0, .site = site}, given};
}
Ongoing running(std::uint32_t task, int since, double cost = 1) {
  return {TaskId(task), cost, second(since), AttemptId(1)};
}
Ongoing waiting(std::uint32_t task) {
  return {TaskId(task), 1, kNever, AttemptId(1)};
}
Ongoing staging(std::uint32_t task) {
  return {TaskId(task)};
}
Twin twin(std::uint32_t task, std::uint32_t host) {
  return {TaskId(task), HostId(host)};
}
Steal steal(std::uint32_t task, std::uint32_t host) {
  return {TaskId(task), HostId(host)};
}

TEST(WorkqueueSteal, IsTheWorkqueueAsLongAsThereAreTasks) {
  Helpers grid{{helper(1, {running(1, 0)}), helper(2)}};
  grid.ready = {2, 3, 4, 5, 6, 7};
  EXPECT_EQ(grid.plan(), grid.plan(Workqueue()));
  EXPECT_THAT(grid.plan().twins, IsEmpty());
}

TEST(WorkqueueSteal, WithoutKnowledgeDoublesWhatHasRunLongest) {
  Helpers grid{{helper(1, {running(1, 50)}), helper(2, {running(2, 20)}), helper(3)}};
  EXPECT_THAT(grid.plan().twins, ElementsAre(twin(2, 3)));
  grid.machines.push_back(helper(4));
  EXPECT_THAT(grid.plan().twins, ElementsAre(twin(2, 3), twin(1, 4)));
}

TEST(WorkqueueSteal, DoublesWhatIsOverdueAndAsksAgainForTheRest) {
  // Expected: 20 s a unit of cost. At 100 s, task 1 has run for 60 s of 20, task 2 for 90 s of 60,
  // task 3 for 50 s of 20.
  Helpers grid{{helper(1, {running(1, 40, 1)}), helper(2, {running(2, 10, 3)}),
                helper(3, {running(3, 50, 1)}), helper(4)}};
  grid.run_times.observe(1, seconds(20));
  EXPECT_THAT(grid.plan().twins, ElementsAre(twin(1, 4)));
  EXPECT_EQ(grid.plan().ask_again, kNever) << "no host is idle any more";
  grid.machines.push_back(helper(5));
  grid.machines.push_back(helper(6));
  EXPECT_THAT(grid.plan().twins, ElementsAre(twin(1, 4), twin(3, 5)));
  EXPECT_EQ(grid.plan().ask_again, second(10 + 2 * 60));
}

TEST(WorkqueueSteal, WhatWaitsBehindOthersComesFirst) {
  Helpers grid{{helper(1, {running(1, 0), waiting(2), waiting(3)}), helper(2)}};
  grid.run_times.observe(1, seconds(20));
  EXPECT_THAT(grid.plan().twins, ElementsAre(twin(3, 2)));
  // About to start: its host is not overfull.
  Helpers soon{{helper(1, {waiting(1)}), helper(2)}};
  EXPECT_THAT(soon.plan().twins, IsEmpty());
}

TEST(WorkqueueSteal, LeavesAloneWhatHasTwoOrMayHaveNone) {
  Ongoing ending = running(2, 0);
  ending.alone = true;
  Helpers grid{
      {helper(1, {running(1, 0)}), helper(2, {running(1, 50)}), helper(3, {ending}), helper(4)}};
  EXPECT_EQ(grid.plan(), Plan{});
}

TEST(WorkqueueSteal, NeedsAnotherHostWithRoom) {
  Helpers alone{{helper(1, {running(1, 0)}, kHome, 2)}};
  EXPECT_EQ(alone.plan(), Plan{});
  Helpers large{{helper(1, {running(1, 0)}, kHome, 4), helper(2, {}, kHome, 2)}};
  large.needs[1].resources.cores = 4;
  EXPECT_EQ(large.plan(), Plan{});
  Helpers busy{{helper(1, {running(1, 0)}), helper(2, {running(2, 90)})}};
  EXPECT_EQ(busy.plan(), Plan{});
}

TEST(WorkqueueSteal, AHostForWhichTasksAreLeftIsNotIdle) {
  // The ready task needs a core; host 2 has a slot free and gets it, host 3 is idle.
  Helpers grid{{helper(1, {running(1, 0)}), helper(2), helper(3)}};
  grid.ready = {2};
  const Plan plan = grid.plan();
  EXPECT_THAT(plan.starts, ElementsAre(Intent{ClassId(1), HostId(2)}));
  EXPECT_THAT(plan.twins, ElementsAre(twin(1, 3)));
}

TEST(WorkqueueSteal, StealsWhatWaitsForFilesThatAreHere) {
  Helpers grid{
      {helper(1, {staging(1), staging(2)}, SiteId(2)), helper(2, {}, kIdleSite), helper(3)}};
  grid.needs[1].files = {FileId(0), FileId(3)};
  grid.needs[2].files = {FileId(0)};
  grid.sites = {{.site = kIdleSite, .there = {FileId(0), FileId(1)}}};
  // Task 1 needs file 3, which is not in the lab; at home is everything.
  EXPECT_THAT(grid.plan().steals, ElementsAre(steal(2, 2), steal(1, 3)));
  grid.sites.clear();
  EXPECT_THAT(grid.plan().steals, ElementsAre(steal(1, 3)));
}

TEST(WorkqueueSteal, DoublesRatherWhereTheFilesAre) {
  Helpers grid{{helper(1, {running(1, 0)}), helper(2, {}, SiteId(2)), helper(3, {}, kIdleSite)}};
  grid.needs[1].files = {FileId(0)};
  grid.sites = {{.site = kIdleSite, .there = {FileId(0)}}};
  EXPECT_THAT(grid.plan().twins, ElementsAre(twin(1, 3)));
  grid.sites.clear();
  EXPECT_THAT(grid.plan().twins, ElementsAre(twin(1, 2)));
}

}  // namespace
}  // namespace gantry::schedule
