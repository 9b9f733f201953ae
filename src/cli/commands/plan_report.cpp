#include "cli/commands/plan_report.hpp"

#include <fmt/format.h>

#include "cli/terminal/display_text.hpp"
#include "cli/terminal/json_line.hpp"
#include "simulate/svg_text.hpp"

namespace gantry::cli {
namespace {

std::string plan_time(const PlanSummary& plan, double seconds) {
  return plan.costs_in_seconds ? simulate::duration_text(seconds) : fmt::format("{:.4g}", seconds);
}

}  // namespace

void print_plan(Context& context, const PlanSummary& plan) {
  context.out.line(fmt::format(
      "{}: {} on {} with {}", one_line(plan.sweep), simulate::count_text(plan.tasks, "task"),
      simulate::count_text(plan.hosts, "host"), simulate::count_text(plan.slots, "slot")));
  if (!plan.costs_in_seconds)
    context.out.line("The sweep has no cost: all times are in units of one task.");
  Table table = context.table({{"", false, false},
                               {"scheduler", false, false},
                               {"makespan", false, false},
                               {"moved", false, false},
                               {"busy", false, false},
                               {"x bound", false, false}});
  for (std::size_t i = 0; i < plan.predictions.size(); ++i) {
    const Prediction& found = plan.predictions[i];
    const bool wins = i == plan.best && plan.predictions.size() > 1;
    const Color color = wins ? Color::green : Color::none;
    table.add({{wins ? "*" : "", color},
               {found.scheduler, color},
               {plan_time(plan, found.makespan), color},
               {simulate::bytes_text(found.bytes_moved)},
               {fmt::format("{:.0f}%", 100 * found.utilisation)},
               {fmt::format("{:.3f}", found.makespan / plan.bound)}});
  }
  table.finish();
  context.out.line(fmt::format("{}{}no scheduler can be faster than {}",
                               plan.predictions.size() > 1 ? "* the shortest; " : "",
                               plan.costs_are_learnt ? "by what was learnt, " : "",
                               plan_time(plan, plan.bound)));
}

void print_plan_json(Context& context, const PlanSummary& plan) {
  JsonLine line(context.out.buffer());
  line.text("sweep", plan.sweep)
      .number("tasks", plan.tasks)
      .number("hosts", plan.hosts)
      .number("slots", plan.slots)
      .text("unit", plan.costs_in_seconds ? "s" : "task")
      .real("bound", plan.bound)
      .text("best", plan.predictions[plan.best].scheduler);
  line.objects("schedulers", plan.predictions, [&](JsonLine& entry, const Prediction& found) {
    entry.text("scheduler", found.scheduler)
        .real("makespan", found.makespan)
        .real("bytes_moved", found.bytes_moved)
        .real("utilisation", found.utilisation)
        .real("wasted", found.wasted)
        .real("distance", found.makespan / plan.bound);
  });
  line.close();
  context.out.settle();
}

}  // namespace gantry::cli
