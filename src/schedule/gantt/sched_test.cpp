#include "schedule/gantt/sched.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "schedule/steady_estimates.hpp"

namespace gantry::schedule {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using What = PlannedTransfer::What;

struct SchedWorld {
  Situation situation;
  SteadyEstimates estimates;

  [[nodiscard]] std::vector<PlannedTask> tasks(const SchedOptions& options) const {
    return sched(situation, estimates, options).tasks;
  }
};

/// A site at home: no links. Tasks without files.
SchedWorld world_at_home(std::vector<double> speeds, std::vector<TaskClass> classes) {
  std::vector<PlanHost> hosts(speeds.size());
  return {{.files = {}, .classes = std::move(classes), .sites = {{}}, .hosts = std::move(hosts)},
          {std::move(speeds), {{}}}};
}

TEST(Sched, MinMinIsCheapestFirstAndMaxMinDearestFirst) {
  const SchedWorld world = world_at_home(
      {1}, {{.waiting = 1, .work = 3}, {.waiting = 2, .work = 1}, {.waiting = 1, .work = 2}});
  EXPECT_THAT(world.tasks({.heuristic = Heuristic::min_min}),
              ElementsAre(PlannedTask{1, 0, 0, 1, 1}, PlannedTask{1, 0, 1, 2, 2},
                          PlannedTask{2, 0, 2, 4, 4}, PlannedTask{0, 0, 4, 7, 7}));
  EXPECT_THAT(world.tasks({.heuristic = Heuristic::max_min}),
              ElementsAre(PlannedTask{0, 0, 0, 3, 3}, PlannedTask{2, 0, 3, 5, 5},
                          PlannedTask{1, 0, 5, 6, 6}, PlannedTask{1, 0, 6, 7, 7}));
}

TEST(Sched, SufferageGivesTheFastHostToWhomItMattersMost) {
  const SchedWorld world =
      world_at_home({2, 1}, {{.waiting = 1, .work = 10}, {.waiting = 1, .work = 4}});
  // Class 0: 5 or 10 s, it would lose 5. Class 1: 2 or 4 s, it would lose 2. So class 0 gets the
  // fast host; then class 1 ends at 5 + 2 there, or at 4 on the other.
  EXPECT_THAT(world.tasks({.heuristic = Heuristic::sufferage}),
              ElementsAre(PlannedTask{0, 0, 0, 5, 5}, PlannedTask{1, 1, 0, 4, 4}));
  // Min-min takes class 1 first (2 s), and class 0 then ends at 2 + 5 on the fast host, not at 10.
  EXPECT_THAT(world.tasks({.heuristic = Heuristic::min_min}),
              ElementsAre(PlannedTask{1, 0, 0, 2, 2}, PlannedTask{0, 0, 2, 7, 7}));
}

/// A file of 100 s that one site has; its hosts are of nearly the same speed.
SchedWorld file_at_one_site() {
  return {{.files = {{1000}},
           .classes = {{.waiting = 1, .work = 10, .files = {0}}, {.waiting = 2, .work = 20}},
           .sites = {{.file_from = {0}}, {.file_from = {kInfinite}}},
           .hosts = {{.site = 0}, {.site = 0}, {.site = 1}}},
          {{1, 1.25, 0.8}, {{0, 10}, {0, 10}}}};
}

TEST(Sched, SufferageDoesNotSeeThatAFileIsAtOneSiteOnly) {
  // Class 0: 10, 8, 100 + 12.5: it would lose 2. Class 1: 20, 16, 25: it would lose 4 and is first.
  // Then class 0: 10, 16 + 8, 112.5: loses 14. Class 1: 20, 16 + 16, 25: loses 5.
  // Then class 1: 10 + 20, 16 + 16, 25.
  EXPECT_THAT(file_at_one_site().tasks({.heuristic = Heuristic::sufferage}),
              ElementsAre(PlannedTask{1, 1, 0, 16, 16}, PlannedTask{0, 0, 0, 10, 10},
                          PlannedTask{1, 2, 0, 25, 25}));
}

TEST(Sched, XSufferageDoes) {
  // Class 0: 8 or 112.5, it would lose 104.5. Class 1: 16 or 25, it would lose 9.
  // Then class 1: 20 (or 8 + 16) or 25, twice: 20, and then 8 + 16 or 25.
  EXPECT_THAT(file_at_one_site().tasks({.heuristic = Heuristic::xsufferage}),
              ElementsAre(PlannedTask{0, 1, 0, 8, 8}, PlannedTask{1, 0, 0, 20, 20},
                          PlannedTask{1, 1, 8, 24, 24}));
}

TEST(Sched, EnoughIsAMatterOfAllHostsOrOfEach) {
  const SchedWorld world = world_at_home({4, 0.9}, {{.waiting = 100, .work = 4}});
  const Seconds slow = 4 / 0.9;  // 4.44, against 1 on the fast host
  const auto plan = [&](Seconds horizon, Seconds margin, Enough enough) {
    return world.tasks(
        {.heuristic = Heuristic::min_min, .horizon = horizon, .margin = margin, .enough = enough});
  };
  // The fast host leaves at 2.
  const auto each = ElementsAre(PlannedTask{0, 0, 0, 1, 1}, PlannedTask{0, 0, 1, 2, 2},
                                PlannedTask{0, 1, 0, slow, slow});
  EXPECT_THAT(plan(2, 0, Enough::each_covered), each);
  EXPECT_THAT(plan(0.5, 1.5, Enough::each_covered), each);
  // The fast host gets more until the slow one is the better choice: 4.44 before 5.
  EXPECT_THAT(plan(2, 0, Enough::all_covered),
              ElementsAre(PlannedTask{0, 0, 0, 1, 1}, PlannedTask{0, 0, 1, 2, 2},
                          PlannedTask{0, 0, 2, 3, 3}, PlannedTask{0, 0, 3, 4, 4},
                          PlannedTask{0, 1, 0, slow, slow}));
}

TEST(Sched, AHostThatCanCompleteNothingIsNotWaitedFor) {
  SchedWorld world = world_at_home({4, 0}, {{.waiting = 100, .work = 4}});
  EXPECT_EQ(world.tasks({.horizon = 3, .enough = Enough::all_covered}).size(), 3U);
  EXPECT_EQ(world.tasks({.horizon = 3, .enough = Enough::each_covered}).size(), 3U);
  world.situation.hosts[0].free_from = kInfinite;
  EXPECT_THAT(world.tasks({.horizon = 3}), IsEmpty());
}

TEST(Sched, NothingToDoOrNowhereToDoIt) {
  EXPECT_THAT(world_at_home({1}, {}).tasks({}), IsEmpty());
  EXPECT_THAT(world_at_home({1}, {{.waiting = 0}}).tasks({}), IsEmpty());
  EXPECT_THAT(world_at_home({}, {{.waiting = 3}}).tasks({}), IsEmpty());
  EXPECT_THAT(sched({}, SteadyEstimates(), {}).tasks, IsEmpty());
}

TEST(Sched, TheSeedDecidesTies) {
  const SchedWorld world =
      world_at_home({1, 1, 1}, {{.waiting = 1, .work = 1}, {.waiting = 1, .work = 1}});
  std::set<std::pair<std::uint32_t, std::uint32_t>> firsts;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const PlannedTask first = world.tasks({.heuristic = Heuristic::min_min, .seed = seed}).front();
    firsts.emplace(first.task_class, first.host);
  }
  EXPECT_EQ(firsts.size(), 6U);  // every class on every host
}

std::string text(const GanttPlan& plan) {
  std::string result;
  for (const PlannedTask& task : plan.tasks)
    result += fmt::format("class {} on host {}: {:g}-{:g}, home at {:g}\n", task.task_class,
                          task.host, task.start, task.end, task.returned);
  for (const PlannedTransfer& transfer : plan.transfers)
    result += fmt::format("site {}: {} {}: {:g}-{:g}\n", transfer.site,
                          transfer.what == What::shared_file      ? "file"
                          : transfer.what == What::private_inputs ? "inputs of"
                                                                  : "output of",
                          transfer.index, transfer.start, transfer.end);
  return result;
}

/// Two sites, two files, three hosts.
SchedWorld small_grid() {
  const auto task = [](std::uint32_t waiting, double work, std::uint32_t file) {
    return TaskClass{
        .waiting = waiting, .work = work, .files = {file}, .private_bytes = 10, .output_bytes = 20};
  };
  return {{.files = {{200}, {400}},
           .classes = {task(3, 30, 0), task(2, 20, 1), task(2, 50, 1)},
           .sites = {{.file_from = {kInfinite, kInfinite}}, {.file_from = {kInfinite, kInfinite}}},
           .hosts = {{.site = 0}, {.site = 0, .free_from = 25}, {.site = 1}}},
          {{1, 2, 1}, {{0, 10}, {1.5, 20}}}};
}

TEST(Sched, GoldenPlan) {
  // The first choice, derived by hand, as site 0 / site 1. Class 0: file 0 is there at 20 / 11.5,
  // ends at 25 + 15 on host 1 / 11.5 + 30, home at 42 / 44. Class 1: file at 40 / 21.5, ends at
  // 40 + 10 / 41.5, home at 52 / 44. Class 2: 40 + 25 + 2 = 67 / 21.5 + 50 + 2.5 = 74. They would
  // lose 2, 8 and 7: class 1 goes to host 2.
  const SchedWorld world = small_grid();
  EXPECT_EQ(text(sched(world.situation, world.estimates, {.heuristic = Heuristic::xsufferage})),
            R"(class 1 on host 2: 21.5-41.5, home at 44
class 0 on host 1: 25-40, home at 42
class 1 on host 2: 41.5-61.5, home at 64
class 0 on host 0: 20-50, home at 52
class 0 on host 1: 40-55, home at 57
class 2 on host 2: 61.5-111.5, home at 114
class 2 on host 1: 97-122, home at 124
site 1: file 1: 0-21.5
site 1: inputs of 0: 0-2
site 0: file 0: 0-20
site 0: inputs of 1: 0-1
site 0: inputs of 3: 1-2
site 1: inputs of 2: 2-4
site 0: inputs of 4: 2-3
site 0: inputs of 6: 3-4
site 1: inputs of 5: 4-6
site 0: output of 1: 40-42
site 1: output of 0: 41.5-44
site 0: output of 3: 50-52
site 0: output of 4: 55-57
site 0: file 1: 57-97
site 1: output of 2: 61.5-64
site 1: output of 5: 111.5-114
site 0: output of 6: 122-124
)");
}

}  // namespace
}  // namespace gantry::schedule
