#include "schedule/gantt/makespan_bound.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "schedule/gantt/random_case.hpp"
#include "schedule/gantt/sched.hpp"

namespace gantry::schedule {
namespace {

/// A world that stays as it is; without links everything is at home.
struct SteadyCapacities final : public Capacities {
  std::vector<double> speeds;
  std::vector<double> bandwidths;

  SteadyCapacities(std::vector<double> host_speeds, std::vector<double> site_bandwidths)
      : speeds(std::move(host_speeds)), bandwidths(std::move(site_bandwidths)) {}

  [[nodiscard]] double work(std::uint32_t host, Seconds from, Seconds until) const override {
    return speeds[host] * (until - from);
  }
  [[nodiscard]] double bytes(std::uint32_t site, Seconds from, Seconds until,
                             bool /*outbound*/) const override {
    return bandwidths.empty() ? kInfinite : bandwidths[site] * (until - from);
  }
};

void expect_bounds(const MakespanBounds& bounds, Seconds compute, Seconds data) {
  EXPECT_NEAR(bounds.compute, compute, 2e-5 * compute);
  EXPECT_LE(bounds.compute, compute);
  EXPECT_NEAR(bounds.data, data, 2e-5 * data);
  EXPECT_LE(bounds.data, data);
}

Situation at_home(std::size_t hosts, std::vector<TaskClass> classes) {
  return {.files = {},
          .classes = std::move(classes),
          .sites = {{}},
          .hosts = std::vector<PlanHost>(hosts)};
}

TEST(MakespanBound, WorkIsSharedByTheHosts) {
  const Situation six = at_home(2, {{.waiting = 4, .work = 3}});
  expect_bounds(makespan_bounds(six, SteadyCapacities({1, 1}, {})), 6, 6);
  expect_bounds(makespan_bounds(six, SteadyCapacities({1, 3}, {})), 3, 3);
}

TEST(MakespanBound, ATaskIsDoneOnOneHost) {
  const Situation one = at_home(2, {{.waiting = 1, .work = 10}});
  expect_bounds(makespan_bounds(one, SteadyCapacities({2, 1}, {})), 5, 5);
}

TEST(MakespanBound, HostsThatAreBusyCountFromThenOn) {
  Situation busy = at_home(2, {{.waiting = 10, .work = 1}});
  busy.hosts[1].free_from = 4;
  // T + (T - 4) = 10.
  expect_bounds(makespan_bounds(busy, SteadyCapacities({1, 1}, {})), 7, 7);
}

TEST(MakespanBound, NothingToDoOrNoWayToDoIt) {
  EXPECT_EQ(makespan_bounds({}, SteadyCapacities({}, {})).data, 0);
  EXPECT_EQ(makespan_bounds(at_home(1, {{.waiting = 0}}), SteadyCapacities({1}, {})).data, 0);
  EXPECT_EQ(makespan_bounds(at_home(0, {{.waiting = 1}}), SteadyCapacities({}, {})).compute,
            kInfinite);
  EXPECT_EQ(makespan_bounds(at_home(1, {{.waiting = 1}}), SteadyCapacities({0}, {})).data,
            kInfinite);
}

/// `sites` with `hosts` each, to which files of 100 bytes have to be sent; `tasks` of work 1 for
/// each file.
Situation away(std::uint32_t sites, std::uint32_t hosts, std::uint32_t files, std::uint32_t tasks) {
  Situation result;
  for (std::uint32_t file = 0; file < files; ++file) {
    result.files.push_back({100});
    result.classes.push_back({.waiting = tasks, .work = 1, .files = {file}});
  }
  for (std::uint32_t site = 0; site < sites; ++site) {
    result.sites.push_back({.file_from = std::vector(files, kInfinite)});
    result.hosts.insert(result.hosts.end(), hosts, {.site = site});
  }
  return result;
}

TEST(MakespanBound, TasksWaitForTheirFile) {
  // The file takes 10 s; then 2 (T - 10) = 20.
  expect_bounds(makespan_bounds(away(2, 1, 1, 20), SteadyCapacities({1, 1}, {10, 10})), 10, 20);
  // It is on its way to the first site: (T - 4) + (T - 10) = 20.
  Situation under_way = away(2, 1, 1, 20);
  under_way.sites[0].file_from[0] = 4;
  expect_bounds(makespan_bounds(under_way, SteadyCapacities({1, 1}, {10, 10})), 10, 17);
}

TEST(MakespanBound, ALinkCarriesAllFiles) {
  // Ten files of 10 s each for one task each: the last bytes come at 100.
  const SteadyCapacities capacities(std::vector<double>(200, 1.0), {10, 10});
  expect_bounds(makespan_bounds(away(1, 100, 10, 1), capacities), 1, 100);
  // With two sites each link carries half of them.
  expect_bounds(makespan_bounds(away(2, 100, 10, 1), capacities), 1, 50);
}

TEST(MakespanBound, TasksOwnFilesUseTheLinkToo) {
  Situation own =
      at_home(50, {{.waiting = 100, .work = 1, .private_bytes = 5, .output_bytes = 15}});
  const SteadyCapacities capacities(std::vector<double>(50, 1.0), {10});
  // 100 x 20 bytes over one stream; 100 x 15 where there is one for each direction.
  expect_bounds(makespan_bounds(own, capacities), 2, 200);
  EXPECT_NEAR(makespan_bounds(own, capacities, {.private_inputs_on_link = false}).data, 150, 0.01);
  EXPECT_NEAR(makespan_bounds(own, capacities, {.outputs_on_link = false}).data, 50, 0.01);
  own.sites[0].same_stream = false;
  expect_bounds(makespan_bounds(own, capacities), 2, 150);
}

/// What the random cases' estimates can do.
struct SteppedCapacities final : public Capacities {
  const SteppedEstimates& estimates;
  explicit SteppedCapacities(const SteppedEstimates& its) : estimates(its) {}

  static double done(const SteppedSpeed& speed, Seconds from, Seconds until) {
    double total = 0;
    until = std::min(until, speed.closes);
    for (auto step = static_cast<std::size_t>(from / speed.period); from < until; ++step) {
      const Seconds end = std::min(until, static_cast<double>(step + 1) * speed.period);
      total += speed.speeds[step % speed.speeds.size()] * (end - from);
      from = end;
      if (total > 1e6) return total;  // more than all cases have to do
    }
    return total;
  }
  [[nodiscard]] double work(std::uint32_t host, Seconds from, Seconds until) const override {
    return done(estimates.hosts[host], from, until);
  }
  [[nodiscard]] double bytes(std::uint32_t site, Seconds from, Seconds until,
                             bool outbound) const override {
    return done(estimates.links[site], from + (outbound ? 0.5 : 0.25), until);
  }
};

RC_GTEST_PROP(MakespanBound, NoPlanIsBetter, ()) {
  RandomCase c = random_case::any();
  c.options.horizon = kInfinite;
  const bool own_stream = c.options.chart.private_inputs == PrivateInputs::own_stream;
  const MakespanBounds bounds = makespan_bounds(
      c.situation, SteppedCapacities(c.estimates),
      {.private_inputs_on_link = !own_stream, .outputs_on_link = c.options.chart.outputs_in_chart});
  RC_ASSERT(bounds.compute <= bounds.data);
  std::size_t waiting = 0;
  for (const TaskClass& task : c.situation.classes) waiting += task.waiting;
  for (const auto heuristic :
       {Heuristic::min_min, Heuristic::max_min, Heuristic::sufferage, Heuristic::xsufferage}) {
    c.options.heuristic = heuristic;
    const GanttPlan plan = sched(c.situation, c.estimates, c.options);
    Seconds last = 0;
    for (const PlannedTask& task : plan.tasks) last = std::max(last, task.returned);
    RC_LOG() << "bounds " << bounds.compute << " and " << bounds.data << ", planned " << last
             << '\n';
    if (plan.tasks.size() == waiting) RC_ASSERT(bounds.data <= last);
  }
}

}  // namespace
}  // namespace gantry::schedule
