// Whole plans, as text: a change of any choice that a planner makes shows here.

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "schedule/gantt/fetch_search.hpp"
#include "schedule/gantt/sched.hpp"
#include "schedule/steady_estimates.hpp"

namespace gantry::schedule {
namespace {

/// A fast site behind a slow link, and a slow one behind a fast link. Three files, none there yet
/// but the last, at the slow site.
struct GoldenCase {
  Situation situation{.files = {{100}, {40}, {60}},
                      .classes = {{.waiting = 2, .work = 10, .files = {0}, .output_bytes = 5},
                                  {.waiting = 2, .work = 20, .files = {1}},
                                  {.waiting = 1, .work = 30, .files = {0, 2}, .private_bytes = 10},
                                  {.waiting = 2, .work = 5}},
                      .sites = {{.file_from = {kInfinite, kInfinite, kInfinite}},
                                {.file_from = {kInfinite, kInfinite, 0}}},
                      .hosts = {{.site = 0}, {.site = 0, .free_from = 4}, {.site = 1}}};
  SteadyEstimates estimates{{2, 2, 1}, {{1, 5}, {0, 20}}};
};

/// Six digits: some latencies are measured with a billionth of a byte, not with none.
std::string told(const GanttPlan& plan) {
  std::string text;
  for (const PlannedTask& task : plan.tasks)
    text += fmt::format("class {} on host {}: {:.6g} - {:.6g}, home {:.6g}\n", task.task_class,
                        task.host, task.start, task.end, task.returned);
  for (const PlannedTransfer& transfer : plan.transfers) {
    using enum PlannedTransfer::What;
    const char* what = transfer.what == shared_file      ? "file"
                       : transfer.what == private_inputs ? "inputs of task"
                                                         : "output of task";
    text += fmt::format("{} {} at site {}: {:.6g} - {:.6g}\n", what, transfer.index, transfer.site,
                        transfer.start, transfer.end);
  }
  return text;
}

std::string planned(Heuristic heuristic) {
  const GoldenCase golden;
  return told(sched(golden.situation, golden.estimates, {.heuristic = heuristic, .seed = 1}));
}

TEST(GoldenPlans, MinMin) {
  EXPECT_EQ(planned(Heuristic::min_min),
            "class 3 on host 0: 0 - 2.5, home 2.5\n"
            "class 3 on host 2: 0 - 5, home 5\n"
            "class 0 on host 2: 5 - 15, home 15.25\n"
            "class 1 on host 1: 9 - 19, home 19\n"
            "class 1 on host 0: 9 - 19, home 19\n"
            "class 0 on host 2: 15 - 25, home 25.25\n"
            "class 2 on host 2: 25 - 55, home 55\n"
            "file 0 at site 1: 0 - 5\n"
            "file 1 at site 0: 0 - 9\n"
            "inputs of task 6 at site 1: 0 - 0.5\n"
            "output of task 2 at site 1: 15 - 15.25\n"
            "output of task 5 at site 1: 25 - 25.25\n");
}
TEST(GoldenPlans, MaxMin) {
  EXPECT_EQ(planned(Heuristic::max_min),
            "class 2 on host 2: 5 - 35, home 35\n"
            "class 0 on host 1: 21 - 26, home 28\n"
            "class 1 on host 1: 37 - 47, home 47\n"
            "class 1 on host 0: 37 - 47, home 47\n"
            "class 0 on host 2: 35 - 45, home 45.25\n"
            "class 3 on host 1: 47 - 49.5, home 49.5\n"
            "class 3 on host 0: 47 - 49.5, home 49.5\n"
            "file 0 at site 1: 0 - 5\n"
            "inputs of task 0 at site 1: 0 - 0.5\n"
            "file 0 at site 0: 0 - 21\n"
            "output of task 1 at site 0: 26 - 28\n"
            "file 1 at site 0: 28 - 37\n"
            "output of task 4 at site 1: 45 - 45.25\n");
}
TEST(GoldenPlans, Sufferage) {
  EXPECT_EQ(planned(Heuristic::sufferage),
            "class 2 on host 2: 5 - 35, home 35\n"
            "class 3 on host 0: 0 - 2.5, home 2.5\n"
            "class 3 on host 0: 2.5 - 5, home 5\n"
            "class 0 on host 1: 21 - 26, home 28\n"
            "class 0 on host 0: 21 - 26, home 30\n"
            "class 1 on host 1: 39 - 49, home 49\n"
            "class 1 on host 0: 39 - 49, home 49\n"
            "file 0 at site 1: 0 - 5\n"
            "inputs of task 0 at site 1: 0 - 0.5\n"
            "file 0 at site 0: 0 - 21\n"
            "output of task 3 at site 0: 26 - 28\n"
            "output of task 4 at site 0: 28 - 30\n"
            "file 1 at site 0: 30 - 39\n");
}
TEST(GoldenPlans, XSufferage) {
  EXPECT_EQ(planned(Heuristic::xsufferage),
            "class 2 on host 2: 5 - 35, home 35\n"
            "class 3 on host 0: 0 - 2.5, home 2.5\n"
            "class 1 on host 1: 9 - 19, home 19\n"
            "class 1 on host 0: 9 - 19, home 19\n"
            "class 3 on host 1: 19 - 21.5, home 21.5\n"
            "class 0 on host 1: 30 - 35, home 37\n"
            "class 0 on host 0: 30 - 35, home 39\n"
            "file 0 at site 1: 0 - 5\n"
            "inputs of task 0 at site 1: 0 - 0.5\n"
            "file 1 at site 0: 0 - 9\n"
            "file 0 at site 0: 9 - 30\n"
            "output of task 5 at site 0: 35 - 37\n"
            "output of task 6 at site 0: 37 - 39\n");
}

/// As `best` does it.
TEST(GoldenPlans, FetchSearch) {
  const GoldenCase golden;
  std::vector<FetchLists> starts;
  for (const auto heuristic : {Heuristic::min_min, Heuristic::xsufferage})
    starts.push_back(fetches_of(
        sched(golden.situation, golden.estimates, {.heuristic = heuristic, .seed = 1}), 2));
  const FetchPlan found = search_fetches(golden.situation, golden.estimates, starts, {.seed = 1});
  EXPECT_EQ(told(found.plan),
            "class 3 on host 0: 0 - 2.5, home 2.5\n"
            "class 3 on host 2: 0 - 5, home 5\n"
            "class 2 on host 2: 5.5 - 35.5, home 35.5\n"
            "class 1 on host 0: 9 - 19, home 19\n"
            "class 1 on host 1: 9 - 19, home 19\n"
            "class 0 on host 0: 30 - 35, home 35\n"
            "class 0 on host 1: 30 - 35, home 35\n"
            "file 1 at site 0: 0 - 9\n"
            "file 0 at site 1: 0 - 5\n"
            "file 0 at site 0: 9 - 30\n");
}

/// Ten files, each read by three tasks, and three sites: many lists are about as good, so that each
/// step of the search decides which of them it finds.
TEST(GoldenPlans, WhatSitesFetch) {
  Situation situation;
  situation.sites.resize(3, {.file_from = std::vector(10, kInfinite)});
  FetchLists all(3);
  for (std::uint32_t i = 0; i < 10; ++i) {
    situation.files.push_back({64.0 * (1 + i * 7 % 5)});
    situation.classes.push_back({.waiting = 3, .work = 16.0 * (1 + i * 3 % 8), .files = {i}});
    all[i % 3].push_back(i);
  }
  situation.hosts = {{.site = 0}, {.site = 0}, {.site = 1}, {.site = 1}, {.site = 2}};
  const SteadyEstimates estimates{{1, 2, 1, 0.5, 4}, {{0, 8}, {0, 16}, {0, 4}}};
  const FetchPlan found = search_fetches(situation, estimates, {all}, {.seed = 1});
  EXPECT_EQ(fmt::format("{} in {}", found.lists, found.makespan),
            "[[0, 6, 4, 3, 1], [8, 3, 7], [5, 9, 2, 8]] in 248");
}

}  // namespace
}  // namespace gantry::schedule
