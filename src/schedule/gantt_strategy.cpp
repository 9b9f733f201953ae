#include "schedule/gantt_strategy.hpp"

#include <limits>
#include <utility>
#include <variant>

namespace gantry::schedule {

GanttStrategy::GanttStrategy(const GanttOptions& options,
                             std::shared_ptr<const EstimateSource> estimates)
    : options_(options),
      estimates_(std::move(estimates)),
      interval_(options.interval, options.adaptive) {}

Appetite GanttStrategy::appetite() const {
  return {.ready = std::numeric_limits<std::size_t>::max(), .by_cost = true};
}

bool upsets_plans(const Event& event) {
  return std::holds_alternative<HostUp>(event) || std::holds_alternative<HostDown>(event) ||
         std::holds_alternative<MoveFailed>(event) || std::holds_alternative<FileGone>(event);
}

void GanttStrategy::observe(const Event& event) {
  follower_.observe(event);
  outdated_ = outdated_ || upsets_plans(event);
}

Plan GanttStrategy::plan(const World& world) {
  const bool due = next_event_ != gantry::kNever && world.now >= next_event_;
  if (due) interval_.learn(follower_.deviation());
  if (outdated_ || due || world.refused > 0) make_plan(world);
  Plan plan;
  const auto outcome = follower_.hand_out(world, plan);
  // Planning twice at one moment would give the same plan.
  const bool unplanned = world.ready > follower_.queued() + plan.starts.size();
  const bool for_idle =
      outcome.idle && options_.choices.plan_when_idle && unplanned && planned_at_ < world.now;
  if (!outcome.fits || for_idle) {
    make_plan(world);
    plan = {};
    follower_.hand_out(world, plan);
  }
  plan.ask_again = next_event_;
  return plan;
}

void GanttStrategy::make_plan(const World& world) {
  outdated_ = false;
  planned_at_ = world.now;
  next_event_ = interval_.after(world.now);
  const NumberedWorld numbers = numbered(world, *estimates_);
  follower_.follow(sched(numbers.situation, *numbers.estimates,
                         {.heuristic = options_.heuristic,
                          .horizon = interval_.seconds(),
                          .margin = options_.choices.margin,
                          .enough = options_.choices.enough,
                          .chart = options_.choices.chart,
                          .seed = options_.seed}),
                   numbers, world.now);
}

}  // namespace gantry::schedule
