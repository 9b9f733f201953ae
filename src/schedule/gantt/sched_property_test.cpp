// What holds for every plan, and that sched() plans like the paper's nested loops, on random small
// situations.

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <map>

#include "schedule/gantt/literal_sched.hpp"
#include "schedule/gantt/random_case.hpp"
#include "schedule/gantt/sched.hpp"

namespace gantry::schedule {
namespace {

using What = PlannedTransfer::What;

void compare_with_the_literal_loops(const RandomCase& c) {
  const GanttPlan plan = sched(c.situation, c.estimates, c.options);
  const GanttPlan literal = LiteralSched(c.situation, c.estimates, c.options).run();
  RC_LOG() << name(c.options.heuristic) << ", " << static_cast<int>(c.options.enough) << '\n';
  RC_ASSERT(plan.tasks.size() == literal.tasks.size());
  for (std::size_t i = 0; i < plan.tasks.size(); ++i) {
    RC_LOG() << "task " << i << ": class " << plan.tasks[i].task_class << " on host "
             << plan.tasks[i].host << ", literally class " << literal.tasks[i].task_class
             << " on host " << literal.tasks[i].host << '\n';
    RC_ASSERT(plan.tasks[i] == literal.tasks[i]);
  }
  RC_ASSERT(plan == literal);
}

RC_GTEST_PROP(Sched, PlansLikeTheLiteralLoops, ()) {
  RandomCase c = random_case::any();
  for (const auto heuristic :
       {Heuristic::min_min, Heuristic::max_min, Heuristic::sufferage, Heuristic::xsufferage}) {
    for (const auto enough : {Enough::all_covered, Enough::each_covered}) {
      c.options.heuristic = heuristic;
      c.options.enough = enough;
      compare_with_the_literal_loops(c);
    }
  }
}

RC_GTEST_PROP(Sched, SameSeedSamePlan, ()) {
  const RandomCase c = random_case::any();
  RC_ASSERT(sched(c.situation, c.estimates, c.options) ==
            sched(c.situation, c.estimates, c.options));
}

RC_GTEST_PROP(Sched, EveryTaskIsPlannedAtMostOnce, ()) {
  const RandomCase c = random_case::any();
  std::vector<std::uint32_t> left;
  for (const TaskClass& task : c.situation.classes) left.push_back(task.waiting);
  for (const PlannedTask& task : sched(c.situation, c.estimates, c.options).tasks) {
    RC_ASSERT(left[task.task_class] > 0U);
    --left[task.task_class];
  }
}

/// Spans of one host or link, in any order.
void assert_apart(std::vector<Span> spans) {
  std::ranges::sort(spans, {}, &Span::start);
  for (std::size_t i = 1; i < spans.size(); ++i) RC_ASSERT(spans[i - 1].end <= spans[i].start);
}

RC_GTEST_PROP(Sched, NoHostDoesTwoThingsAtOnce, ()) {
  const RandomCase c = random_case::any();
  std::vector<std::vector<Span>> hosts;
  for (const PlanHost& host : c.situation.hosts) hosts.push_back({{-100, host.free_from}});
  for (const PlannedTask& task : sched(c.situation, c.estimates, c.options).tasks) {
    RC_ASSERT(task.start >= 0);
    RC_ASSERT(task.end == c.estimates.computed(task.host, task.start,
                                               c.situation.classes[task.task_class].work));
    RC_ASSERT(task.end < kInfinite);
    RC_ASSERT(hosts[task.host].back().end <= task.start);  // the plan has them in order
    hosts[task.host].push_back({task.start, task.end});
  }
}

RC_GTEST_PROP(Sched, NoLinkCarriesTwoThingsAtOnce, ()) {
  const RandomCase c = random_case::any();
  const bool own_stream = c.options.chart.private_inputs == PrivateInputs::own_stream;
  const GanttPlan plan = sched(c.situation, c.estimates, c.options);
  enum Column { in, out, own };
  std::map<std::pair<std::uint32_t, Column>, std::vector<Span>> columns;
  for (std::uint32_t i = 0; i < c.situation.sites.size(); ++i) {
    columns[{i, in}] = {{-100, c.situation.sites[i].inbound.free_from}};
    columns[{i, out}] = {{-100, c.situation.sites[i].outbound.free_from}};
  }
  for (const PlannedTransfer& transfer : plan.transfers) {
    Column column = in;
    double bytes = 0;
    switch (transfer.what) {
      case What::shared_file:
        bytes = c.situation.files[transfer.index].bytes;
        break;
      case What::private_inputs:
        if (own_stream) column = own;
        bytes = c.situation.classes[plan.tasks[transfer.index].task_class].private_bytes;
        break;
      case What::output:
        if (!c.situation.sites[transfer.site].same_stream) column = out;
        bytes = c.situation.classes[plan.tasks[transfer.index].task_class].output_bytes;
        break;
    }
    RC_ASSERT(transfer.start >= 0);
    RC_ASSERT(transfer.end == c.estimates.moved(transfer.site, transfer.start, bytes,
                                                transfer.what == What::output));
    columns[{transfer.site, column}].push_back({transfer.start, transfer.end});
  }
  for (const auto& [column, spans] : columns) assert_apart(spans);
}

RC_GTEST_PROP(Sched, NoTaskStartsBeforeItsFilesAreThereNorReturnsBeforeItEnded, ()) {
  const RandomCase c = random_case::any();
  const GanttPlan plan = sched(c.situation, c.estimates, c.options);
  std::vector<std::vector<Seconds>> there;
  for (const PlanSite& site : c.situation.sites) there.push_back(site.file_from);
  std::vector<Seconds> own(plan.tasks.size(), kInfinite);
  std::vector<Span> output(plan.tasks.size());
  for (const PlannedTransfer& transfer : plan.transfers) {
    if (transfer.what == What::private_inputs) own[transfer.index] = transfer.end;
    if (transfer.what == What::output) output[transfer.index] = {transfer.start, transfer.end};
    if (transfer.what != What::shared_file) continue;
    RC_ASSERT(there[transfer.site][transfer.index] == kInfinite);  // no file is sent twice
    there[transfer.site][transfer.index] = transfer.end;
  }
  for (std::size_t i = 0; i < plan.tasks.size(); ++i) {
    const PlannedTask& task = plan.tasks[i];
    const TaskClass& its = c.situation.classes[task.task_class];
    const std::uint32_t site = c.situation.hosts[task.host].site;
    for (const std::uint32_t file : its.files) RC_ASSERT(there[site][file] <= task.start);
    if (its.private_bytes > 0) RC_ASSERT(own[i] <= task.start);
    if (its.output_bytes == 0) {
      RC_ASSERT(task.returned == task.end);
    } else if (c.options.chart.outputs_in_chart) {
      RC_ASSERT(task.end <= output[i].start);
      RC_ASSERT(task.returned == output[i].end);
    } else {
      RC_ASSERT(task.returned == c.estimates.moved(site, task.end, its.output_bytes, true));
    }
  }
}

RC_GTEST_PROP(Sched, AssignsUntilThereIsEnoughAndNoMore, ()) {
  const RandomCase c = random_case::any();
  const GanttPlan plan = sched(c.situation, c.estimates, c.options);
  const Seconds horizon = c.options.horizon + c.options.margin;
  std::vector<Seconds> free;
  for (const PlanHost& host : c.situation.hosts) free.push_back(std::max(host.free_from, 0.0));
  std::vector<std::uint32_t> left;
  for (const TaskClass& task : c.situation.classes) left.push_back(task.waiting);
  GanttChart chart(c.situation, c.estimates, c.options.chart);
  for (const PlannedTask& task : plan.tasks) {
    if (c.options.enough == Enough::each_covered)
      RC_ASSERT(free[task.host] < horizon);
    else
      RC_ASSERT(std::ranges::any_of(free, [&](Seconds at) { return at < horizon; }));
    chart.assign(task.task_class, task.host);
    free[task.host] = task.end;
    --left[task.task_class];
  }
  for (std::uint32_t h = 0; h < free.size(); ++h) {
    if (free[h] >= horizon) continue;
    for (std::uint32_t k = 0; k < left.size(); ++k)
      RC_ASSERT(left[k] == 0 || chart.fit(k, h).returned == kInfinite);
  }
}

}  // namespace
}  // namespace gantry::schedule
