#include "simulate/simulation.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "schedule/gantt/best.hpp"
#include "schedule/gantt/gantt_strategy.hpp"
#include "schedule/queue/workqueue.hpp"
#include "simulate/experiment.hpp"
#include "simulate/grid_fixture.hpp"
#include "simulate/trace_oracle.hpp"

namespace gantry::simulate {
namespace {

using schedule::GanttOptions;
using schedule::GanttStrategy;
using schedule::Heuristic;
using testing::DoubleNear;
using testing::SizeIs;

constexpr SiteId kLab(1);
constexpr SiteId kCluster(2);

/// `count` tasks of 10 s that all read one file of 100 bytes.
engine::Workload alike(std::uint32_t count) {
  engine::Workload workload{.count = count};
  workload.cost = [](TaskId) { return 10.0; };
  workload.file_bytes = {100};
  workload.files = [](TaskId) { return std::vector{FileId(0)}; };
  return workload;
}

std::unique_ptr<schedule::Scheduler> workqueue() {
  return std::make_unique<schedule::Workqueue>();
}
std::unique_ptr<schedule::Scheduler> gantt(const VirtualGrid& grid, GanttOptions options = {}) {
  return std::make_unique<GanttStrategy>(options, exact_estimates(grid));
}
std::unique_ptr<schedule::Scheduler> best(const VirtualGrid& grid) {
  return std::make_unique<schedule::Best>(schedule::BestOptions{}, exact_estimates(grid));
}

TEST(Simulation, TasksGoToHostsOneAfterTheOther) {
  const VirtualGrid grid{{host(kHome), host(kHome)}};
  const auto result = simulate(alike(6), grid, workqueue());
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_DOUBLE_EQ(result->makespan, 30);
  EXPECT_THAT(result->tasks, SizeIs(6));
  EXPECT_THAT(result->moves, SizeIs(0));
}

TEST(Simulation, AFileIsSentOnceToASite) {
  const VirtualGrid grid{{host(kLab), host(kLab)}, {std::nullopt, link(10)}};
  for (const bool planned : {false, true}) {
    const auto result = simulate(alike(4), grid, planned ? gantt(grid) : workqueue());
    ASSERT_TRUE(result) << result.error().message;
    EXPECT_DOUBLE_EQ(result->makespan, 10 + 2 * 10);
    EXPECT_THAT(result->moves, SizeIs(1));
    EXPECT_DOUBLE_EQ(result->bytes_moved, 100);
  }
}

/// The first host looks as good as the other at the beginning, and has a tenth of its speed later.
TEST(Simulation, WhoLearnsNoticesASlowHost) {
  VirtualHost slow = host(kHome);
  slow.spec.availability = Trace::make({{0, 1}, {5, 0.1}}).value();
  const VirtualGrid grid{{slow, host(kHome)}};
  const auto makespan = [&](std::shared_ptr<const schedule::EstimateSource> estimates) {
    const auto result = simulate(
        alike(22), grid,
        std::make_unique<GanttStrategy>(
            GanttOptions{.heuristic = Heuristic::min_min, .interval = 20}, std::move(estimates)));
    return result.value().makespan;
  };
  // With half of the tasks it would take more than 1,000 s.
  EXPECT_LE(makespan(learned_estimates(grid)), makespan(exact_estimates(grid)) + 60);
}

/// The fast site is not there when the first plan is made, and the strategy has no time to search.
TEST(Simulation, BestUsesASiteThatComesLater) {
  const VirtualGrid grid{{host(kLab), host(kCluster, 10, {{0, 30}})},
                         {std::nullopt, link(10), link(10)}};
  auto hasty = std::make_unique<schedule::Best>(
      schedule::BestOptions{.interval = 20, .decodings = 1}, exact_estimates(grid));
  const auto result = simulate(alike(100), grid, std::move(hasty));
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_THAT(result->moves, SizeIs(2));
  EXPECT_LT(result->makespan, 200);  // alone, the slow one takes 1,010
}

TEST(Simulation, BestDoesNotSearchOverMoreTasksThanItCan) {
  const VirtualGrid grid{{host(kLab), host(kCluster, 2)}, {std::nullopt, link(10), link(5)}};
  const auto planned = [&](std::unique_ptr<schedule::Scheduler> strategy) {
    return simulate(alike(20), grid, std::move(strategy)).value();
  };
  const auto hopeless = planned(std::make_unique<schedule::Best>(
      schedule::BestOptions{.placements = 1}, exact_estimates(grid)));
  const auto by_heuristic = planned(gantt(grid));
  EXPECT_DOUBLE_EQ(hopeless.makespan, by_heuristic.makespan);
  EXPECT_THAT(hopeless.tasks, SizeIs(20));
  // It searches as soon as few enough are left.
  const auto later = planned(std::make_unique<schedule::Best>(
      schedule::BestOptions{.placements = 400}, exact_estimates(grid)));
  EXPECT_THAT(later.tasks, SizeIs(20));
  EXPECT_LE(later.makespan, by_heuristic.makespan);
}

/// Tasks of two files in turn, by cost, and room for one file only.
engine::Workload in_turn(std::uint32_t count) {
  engine::Workload workload{.count = count};
  workload.cost = [](TaskId task) { return 10.0 + task.value(); };
  workload.file_bytes = {100, 100};
  workload.files = [](TaskId task) { return std::vector{FileId(task.value() % 2)}; };
  return workload;
}

TEST(Simulation, WhereRoomIsShortPlansDoNotSendFilesToAndFro) {
  const VirtualGrid grid{
      .hosts = {host(kLab)}, .links = {std::nullopt, link(10)}, .depots = {0, 100}};
  for (const auto heuristic :
       {Heuristic::min_min, Heuristic::max_min, Heuristic::sufferage, Heuristic::xsufferage}) {
    const auto result = simulate(in_turn(20), grid, gantt(grid, {.heuristic = heuristic}));
    ASSERT_TRUE(result) << result.error().message;
    EXPECT_THAT(result->tasks, SizeIs(20));
    EXPECT_GE(result->moves.size(), 2U) << schedule::name(heuristic);  // once each
    EXPECT_LE(result->moves.size(), 3U) << schedule::name(heuristic);
  }
}

TEST(Simulation, ASiteThatHoldsNoFileDoesNotKeepOthersFromPlanning) {
  const VirtualGrid without{.hosts = {host(kLab, 2), host(kHome)},
                            .links = {std::nullopt, link(10)}};
  const VirtualGrid with{.hosts = {host(kLab, 2), host(kHome), host(kCluster)},
                         .links = {std::nullopt, link(10), link(10)},
                         .depots = {0, 1000, 50}};
  const auto makespan = [](const VirtualGrid& grid) {
    return simulate(in_turn(20), grid, gantt(grid)).value().makespan;
  };
  EXPECT_DOUBLE_EQ(makespan(with), makespan(without));
}

TEST(Simulation, AFileThatIsThereIsNotSent) {
  const VirtualGrid grid{{host(kLab)}, {std::nullopt, link(10)}, {{FileId(0), kLab}}};
  for (const bool planned : {false, true}) {
    const auto result = simulate(alike(2), grid, planned ? gantt(grid) : workqueue());
    ASSERT_TRUE(result) << result.error().message;
    EXPECT_DOUBLE_EQ(result->makespan, 20);
    EXPECT_DOUBLE_EQ(result->bytes_moved, 0);
  }
}

TEST(Simulation, OwnInputsAndOutputsTravelToo) {
  const VirtualGrid grid{{host(kLab)}, {std::nullopt, link(10)}};
  auto workload = alike(1);
  workload.private_bytes = [](TaskId) { return 20.0; };
  workload.output_bytes = [](TaskId) { return 50.0; };
  const auto result = simulate(workload, grid, workqueue());
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_DOUBLE_EQ(result->makespan, 10 + 2 + 10 + 5);
  EXPECT_DOUBLE_EQ(result->bytes_moved, 100 + 20 + 50);
}

TEST(Simulation, OutputsOnTheirWayDoNotKeepAHost) {
  const VirtualGrid grid{{host(kLab)}, {std::nullopt, link(10)}};
  auto workload = alike(3);
  workload.files = {};
  workload.output_bytes = [](TaskId) { return 50.0; };
  for (const bool planned : {false, true}) {
    const auto result = simulate(workload, grid, planned ? gantt(grid) : workqueue());
    ASSERT_TRUE(result) << result.error().message;
    EXPECT_DOUBLE_EQ(result->makespan, 3 * 10 + 5);
  }
}

TEST(Simulation, AHostThatFailsLosesOnlyWhatRanThere) {
  const VirtualGrid grid{{host(kHome), host(kHome, 1, {{15, 100}})}};
  const auto result = simulate(alike(6), grid, workqueue());
  ASSERT_TRUE(result) << result.error().message;
  // One task each at 10 and 20 ..., the second host's second one is lost at 15.
  EXPECT_DOUBLE_EQ(result->makespan, 50);
  EXPECT_THAT(result->tasks, SizeIs(6));
}

TEST(Simulation, PlansThatNameWhatIsGoneAreMadeAnew) {
  const VirtualGrid grid{
      {host(kLab), host(kLab, 1, {{15, kForever}}), host(kCluster, 1, {{12, 50}})},
      {std::nullopt, link(100), link(100)}};
  for (const bool searching : {false, true}) {
    const auto result = simulate(alike(12), grid, searching ? best(grid) : gantt(grid));
    ASSERT_TRUE(result) << result.error().message;
    EXPECT_THAT(result->tasks, SizeIs(12));
    EXPECT_LE(result->makespan, 100);  // 1 + 4 tasks of 10 s each, and what was lost
  }
}

TEST(Simulation, BestWeighsFilesAgainstHosts) {
  // The fast cluster is far away: 100 s for the file, then a second a task.
  const VirtualGrid grid{{host(kLab), host(kCluster, 10)}, {std::nullopt, link(100), link(1)}};
  const auto few = simulate(alike(9), grid, best(grid));
  ASSERT_TRUE(few) << few.error().message;
  EXPECT_DOUBLE_EQ(few->makespan, 1 + 9 * 10);
  EXPECT_THAT(few->moves, SizeIs(1));
  const auto many = simulate(alike(100), grid, best(grid));
  ASSERT_TRUE(many) << many.error().message;
  EXPECT_LE(many->makespan, 195);  // 18 or 19 tasks in the lab, 81 or 82 at the cluster
  EXPECT_THAT(many->moves, SizeIs(2));
}

TEST(Simulation, AFailedMoveIsTriedAgain) {
  LinkSpec broken = link(10);
  broken.outages = {{5, 20}};
  const VirtualGrid grid{{host(kLab)}, {std::nullopt, broken}};
  for (const bool planned : {false, true}) {
    const auto result = simulate(alike(1), grid, planned ? gantt(grid) : workqueue());
    ASSERT_TRUE(result) << result.error().message;
    EXPECT_GE(result->makespan, 20 + 10 + 10);
    EXPECT_LE(result->makespan, 40 + 10 + 10);
  }
}

TEST(Simulation, SaysWhenNothingWillEverHappen) {
  const VirtualGrid grid{{host(kHome, 1, {{15, kForever}})}};
  const auto result = simulate(alike(2), grid, workqueue());
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().message,
            "after 15 s nothing happens any more, and 1 tasks are not done");
}

TEST(Simulation, PlansAnewAtEachEvent) {
  const VirtualGrid grid{{host(kLab), host(kCluster, 0.5)}, {std::nullopt, link(100), link(1000)}};
  for (const double interval : {5.0, 25.0, 1000.0}) {
    const auto result = simulate(alike(20), grid, gantt(grid, {.interval = interval}));
    ASSERT_TRUE(result) << result.error().message;
    // 1 s and 0.1 s for the file, then 13 or 14 tasks of 10 s and 6 or 7 of 20 s.
    EXPECT_THAT(result->makespan, DoubleNear(140.5, 1)) << interval;
  }
}

/// Two sites with a host each, a slow link to home each, and a fast one between them.
VirtualGrid neighbours() {
  return {{host(kLab), host(kCluster)},
          {std::nullopt, link(1), link(1)},
          {},
          {},
          {{kLab, kCluster, link(100)}}};
}

/// Two tasks of 10 s that read two files of 100 bytes.
engine::Workload two_that_read_two() {
  auto workload = alike(2);
  workload.file_bytes = {100, 100};
  workload.files = [](TaskId) { return std::vector{FileId(0), FileId(1)}; };
  return workload;
}

TEST(Simulation, NeighboursFetchAFileEachFromHomeAndSwapThem) {
  VirtualGrid grid = neighbours();
  for (const bool searching : {false, true}) {
    const auto result = simulate(two_that_read_two(), grid, searching ? best(grid) : gantt(grid));
    ASSERT_TRUE(result) << result.error().message;
    // Both sites have one after 100 s; then one goes this way, and the other one that way.
    EXPECT_DOUBLE_EQ(result->makespan, 100 + 2 + 10) << searching;
    ASSERT_THAT(result->moves, SizeIs(4));
    EXPECT_EQ(result->moves[2].from, kLab);
    EXPECT_EQ(result->moves[3].from, kCluster);
    EXPECT_DOUBLE_EQ(result->bytes_moved, 400);
  }
  grid.peers.clear();
  const auto alone = simulate(two_that_read_two(), grid, gantt(grid));
  ASSERT_TRUE(alone) << alone.error().message;
  EXPECT_DOUBLE_EQ(alone->makespan, 200 + 10);
}

TEST(Simulation, TheBoundKnowsOfNeighbours) {
  VirtualGrid grid = neighbours();
  grid.hosts = {host(kCluster)};
  grid.staged = {{FileId(0), kLab}};
  const auto result = simulate(alike(1), grid, gantt(grid));
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_DOUBLE_EQ(result->makespan, 1 + 10);
  const Trial trial{grid, {{100}, {{.cost = 10, .files = {FileId(0)}}}}};
  EXPECT_THAT(bounds_of(trial).data, DoubleNear(11, 0.1));  // 101 bytes a second, from both sides
}

TEST(Simulation, WhenTheLinkToANeighbourBreaksTheFileComesFromHome) {
  VirtualGrid grid = neighbours();
  grid.peers[0].spec.outages = {{100.5, kForever}};
  for (const bool planned : {false, true}) {
    const auto result = simulate(two_that_read_two(), grid, planned ? gantt(grid) : workqueue());
    ASSERT_TRUE(result) << result.error().message;
    EXPECT_LE(result->makespan, 100.5 + 1 + 100 + 10);  // a second until the next try
    for (const VirtualMove& move : result->moves) EXPECT_EQ(move.from, kHome);
  }
}

struct RandomCase {
  VirtualGrid grid;
  engine::Workload workload;
};

RandomCase random_case() {
  RandomCase made;
  const auto sites = *rc::gen::inRange<std::uint32_t>(1, 4);
  made.grid.links.clear();
  made.grid.links.emplace_back();
  for (std::uint32_t i = 1; i <= sites; ++i)
    made.grid.links.emplace_back(link(*rc::gen::inRange(1, 50)));
  const auto hosts = *rc::gen::inRange<std::uint32_t>(1, 6);
  for (std::uint32_t i = 0; i < hosts; ++i)
    made.grid.hosts.push_back(host(SiteId(*rc::gen::inRange<std::uint32_t>(0, sites + 1)),
                                   0.25 * *rc::gen::inRange(1, 12)));
  const auto kinds = *rc::gen::inRange<std::uint32_t>(1, 4);
  made.workload.count = *rc::gen::inRange<std::uint32_t>(1, 30);
  std::vector<double> costs;
  for (std::uint32_t i = 0; i < kinds; ++i) {
    made.workload.file_bytes.push_back(*rc::gen::inRange(0, 500));
    costs.push_back(*rc::gen::inRange(1, 60));
  }
  made.workload.files = [kinds](TaskId task) { return std::vector{FileId(task.value() % kinds)}; };
  made.workload.cost = [costs, kinds](TaskId task) { return costs[task.value() / 3 % kinds]; };
  return made;
}

/// When sched(), asked once at the start, thinks that all is done.
double promised(const RandomCase& made, Heuristic heuristic, std::uint64_t seed) {
  schedule::Situation situation;
  for (const double bytes : made.workload.file_bytes) situation.files.push_back({bytes});
  std::vector<TaskNeeds> classes;  // in the order of their first tasks
  for (std::uint32_t i = 1; i <= made.workload.count; ++i) {
    TaskNeeds needs = made.workload.needs_of(TaskId(i));
    needs.cost = made.workload.cost_of(TaskId(i));
    const auto known = std::ranges::find(classes, needs);
    if (known == classes.end()) {
      classes.push_back(needs);
      situation.classes.push_back(
          {.waiting = 1, .work = needs.cost, .files = {needs.files[0].value()}});
    } else {
      ++situation.classes[static_cast<std::size_t>(known - classes.begin())].waiting;
    }
  }
  TraceGrid traces;
  std::vector<SiteId> sites;  // in the order of their first hosts
  for (const VirtualHost& each : made.grid.hosts) {
    traces.slots.push_back(each.spec);
    const auto known = std::ranges::find(sites, each.site);
    situation.hosts.push_back({.site = static_cast<std::uint32_t>(known - sites.begin())});
    if (known != sites.end()) continue;
    sites.push_back(each.site);
    const auto& its_link = made.grid.links[each.site.value()];
    traces.sites.push_back({its_link, its_link});
    const double from = its_link ? schedule::kInfinite : 0;
    situation.sites.push_back(
        {.file_from = std::vector<double>(made.workload.file_bytes.size(), from)});
  }
  std::vector<std::uint32_t> slots(traces.slots.size());
  std::iota(slots.begin(), slots.end(), 0U);
  std::vector<std::uint32_t> site_numbers(traces.sites.size());
  std::iota(site_numbers.begin(), site_numbers.end(), 0U);
  const TraceEstimates estimates(traces, 0, std::move(slots), std::move(site_numbers));
  const auto plan = schedule::sched(situation, estimates, {.heuristic = heuristic, .seed = seed});
  return std::ranges::max_element(plan.tasks, {}, &schedule::PlannedTask::returned)->returned;
}

RC_GTEST_PROP(SimulationProperty, WithExactEstimatesThePlanComesTrue, ()) {
  const RandomCase made = random_case();
  for (const auto heuristic :
       {Heuristic::min_min, Heuristic::max_min, Heuristic::sufferage, Heuristic::xsufferage}) {
    const auto result =
        simulate(made.workload, made.grid, gantt(made.grid, {.heuristic = heuristic, .seed = 3}));
    RC_ASSERT(result.has_value());
    RC_ASSERT(result->tasks.size() == made.workload.count);
    const double wanted = promised(made, heuristic, 3);
    RC_ASSERT(std::abs(result->makespan - wanted) < 1e-6 * (1 + wanted));
  }
}

TEST(Simulation, WhatComesIsNotWhatWasDeclaredAndMayDie) {
  // Task 1 dies after 2 s and takes 3 s then; task 2 takes 7 s. Declared were 10 s each.
  engine::Workload workload{.count = 2, .retry = {.retries = 1}};
  workload.cost = [](TaskId) { return 10.0; };
  const auto fate_of = [](TaskId task, AttemptId attempt) {
    if (task == TaskId(2)) return Fate{7};
    return attempt == AttemptId(1) ? Fate{2, true} : Fate{3};
  };
  std::vector<FailureCause> ends;
  const auto watch = [&](TimePoint, const Event& event, const engine::RunView&) {
    if (const auto* end = std::get_if<AttemptEnded>(&event)) ends.push_back(end->report.cause);
  };
  const auto run = simulate(workload, {.hosts = {host(kHome)}}, workqueue(), watch, fate_of);
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_DOUBLE_EQ(run->makespan, 2 + 3 + 7);
  EXPECT_DOUBLE_EQ(run->wasted, 2);
  EXPECT_THAT(
      ends, testing::ElementsAre(FailureCause::exit_code, FailureCause::none, FailureCause::none));
  EXPECT_THAT(run->tasks, SizeIs(2));
}

}  // namespace
}  // namespace gantry::simulate
