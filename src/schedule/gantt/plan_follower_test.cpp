#include "schedule/gantt/plan_follower.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

namespace gantry::schedule {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr SiteId kFollowerSite(1);

/// One class of tasks with a file, two hosts at a site of their own.
struct Followed {
  std::vector<Host> machines{{HostId(1), "a", 1, 0, kFollowerSite},
                             {HostId(2), "b", 1, 0, kFollowerSite}};
  std::vector<Load> loads{0, 0};
  TaskNeeds needs{.files = {FileId(0)}};
  std::deque<std::uint64_t> places = std::deque<std::uint64_t>(4);
  std::vector<SiteFiles> sites{{kFollowerSite, {FileId(0)}, {}}};
  std::vector<double> file_bytes{100};
  forecast::RunTimeForecast run_times;
  NumberedWorld numbers;
  TimePoint begin = from_ns(1'000'000'000);

  Followed() {
    std::iota(places.begin(), places.end(), 1);
    numbers.situation.classes = {{.waiting = 4, .work = 10, .files = {0}}};
    numbers.slots = {&machines[0], &machines[1]};
    numbers.sites = {kFollowerSite};
    numbers.classes = {ClassId(1)};
  }

  std::vector<std::uint32_t> hosts_after(PlanFollower& follower, double after,
                                         PlanFollower::Outcome* outcome = nullptr,
                                         std::vector<MoveFile>* moves = nullptr) {
    std::vector<HostLoad> hosts;
    for (std::size_t i = 0; i < machines.size(); ++i) hosts.push_back({&machines[i], loads[i]});
    const std::vector<ReadyClass> classes{{ClassId(1), &needs, &places}};
    Plan plan;
    const auto happened = follower.hand_out(
        {begin + from_seconds(after), classes, hosts, run_times, places.size(), file_bytes, sites},
        plan);
    if (outcome != nullptr) *outcome = happened;
    if (moves != nullptr) *moves = plan.moves;
    std::vector<std::uint32_t> result;
    for (const Intent& intent : plan.starts) {
      result.push_back(intent.host.value());
      loads[intent.host.value() - 1] = kFull;
      places.pop_front();
    }
    return result;
  }
  void end(PlanFollower& follower, std::uint32_t host) {
    loads[host - 1] = 0;
    AttemptEnded ended;
    ended.host = HostId(host);
    follower.observe(ended);
  }
};

GanttPlan two_each() {
  return {.tasks = {{0, 0, 0, 10, 10}, {0, 1, 0, 10, 10}, {0, 0, 10, 20, 20}, {0, 1, 10, 20, 20}},
          .transfers = {}};
}

TEST(PlanFollower, HostsTakeTheirTasksInOrder) {
  Followed world;
  PlanFollower follower(false);
  follower.follow(two_each(), world.numbers, world.begin);
  EXPECT_THAT(world.hosts_after(follower, 0), ElementsAre(1, 2));
  EXPECT_THAT(world.hosts_after(follower, 5), IsEmpty());
  world.end(follower, 2);
  EXPECT_THAT(world.hosts_after(follower, 10), ElementsAre(2));
  EXPECT_DOUBLE_EQ(follower.deviation(), 0);
  world.end(follower, 1);
  EXPECT_THAT(world.hosts_after(follower, 15), ElementsAre(1));
  EXPECT_DOUBLE_EQ(follower.deviation(), 0.25);  // 5 s of the 20 s that two were to wait
}

TEST(PlanFollower, WhatIsOverdueIsShared) {
  for (const bool share : {false, true}) {
    Followed world;
    PlanFollower follower(share);
    GanttPlan plan = two_each();
    plan.tasks.pop_back();  // host 2 has one task, host 1 two
    world.places.pop_back();
    follower.follow(plan, world.numbers, world.begin);
    EXPECT_THAT(world.hosts_after(follower, 0), ElementsAre(1, 2));
    world.end(follower, 2);
    EXPECT_THAT(world.hosts_after(follower, 10), IsEmpty());  // host 1 may end any moment
    world.end(follower, 2);
    if (share)
      EXPECT_THAT(world.hosts_after(follower, 13), ElementsAre(2));
    else
      EXPECT_THAT(world.hosts_after(follower, 13), IsEmpty());
  }
}

TEST(PlanFollower, TasksWaitForTheirFilesAndFilesGoOneByOne) {
  Followed world;
  world.sites[0].there.clear();
  world.file_bytes = {100, 100};
  PlanFollower follower(false);
  GanttPlan plan = two_each();
  plan.transfers = {{PlannedTransfer::What::shared_file, 0, 0, 0, 5},
                    {PlannedTransfer::What::shared_file, 1, 0, 5, 9}};
  follower.follow(plan, world.numbers, world.begin);
  std::vector<MoveFile> moves;
  EXPECT_THAT(world.hosts_after(follower, 0, nullptr, &moves), IsEmpty());
  EXPECT_THAT(moves, ElementsAre(MoveFile{FileId(0), kHome, kFollowerSite}));
  world.sites[0].moving = {{FileId(0), kHome, world.begin}};
  EXPECT_THAT(world.hosts_after(follower, 1, nullptr, &moves), IsEmpty());
  EXPECT_THAT(moves, IsEmpty());
  world.sites[0] = {kFollowerSite, {FileId(0)}, {}};
  follower.observe(FileArrived{FileId(0), kFollowerSite, world.begin});
  EXPECT_THAT(world.hosts_after(follower, 5, nullptr, &moves), ElementsAre(1, 2));
  EXPECT_THAT(moves, ElementsAre(MoveFile{FileId(1), kHome, kFollowerSite}));
}

TEST(PlanFollower, SaysWhenThePlanDoesNotFitOrLeavesAHostIdle) {
  Followed world;
  PlanFollower follower(false);
  follower.follow(two_each(), world.numbers, world.begin);
  PlanFollower::Outcome outcome;
  world.hosts_after(follower, 0, &outcome);
  EXPECT_TRUE(outcome.fits);
  EXPECT_FALSE(outcome.idle);
  world.places.clear();  // somebody cancelled the rest
  world.end(follower, 1);
  world.hosts_after(follower, 10, &outcome);
  EXPECT_FALSE(outcome.fits);

  follower.follow({}, world.numbers, world.begin);
  world.hosts_after(follower, 20, &outcome);
  EXPECT_TRUE(outcome.idle);
}

TEST(PlanFollower, WhereADepotIsFullATaskIsHandedOverForTheEngineToMakeRoom) {
  Followed world;
  world.file_bytes = {100, 100};
  world.needs.files = {FileId(0), FileId(1)};
  world.sites[0] = {.site = kFollowerSite, .there = {FileId(2)}, .depot = 200, .free = 100};
  world.file_bytes.push_back(100);
  PlanFollower follower(false);
  follower.follow(
      {.tasks = {{0, 0, 0, 10, 10}, {0, 1, 0, 10, 10}}, .transfers = {{.index = 0}, {.index = 1}}},
      world.numbers, world.begin);
  // As long as there is room, the files come ahead.
  std::vector<MoveFile> moves;
  EXPECT_THAT(world.hosts_after(follower, 0, nullptr, &moves), IsEmpty());
  EXPECT_THAT(moves, ElementsAre(MoveFile{FileId(0), kHome, kFollowerSite}));
  // Then it is full, of what others use: nothing is wanted in vain.
  world.sites[0].there = {FileId(0), FileId(2)};
  world.sites[0].free = 0;
  EXPECT_THAT(world.hosts_after(follower, 10, nullptr, &moves), IsEmpty());
  EXPECT_THAT(moves, IsEmpty());
  // They do not any more. No event was about the hosts, and yet one of them gets its task; for the
  // other one nothing that this one reads is dropped.
  world.sites[0].idle = {FileId(0), FileId(2)};
  EXPECT_THAT(world.hosts_after(follower, 20, nullptr, &moves), ElementsAre(1));
  EXPECT_THAT(moves, IsEmpty());
}

}  // namespace
}  // namespace gantry::schedule
