#include "schedule/gantt/gantt_strategy.hpp"

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
  return std::holds_alternative<HostUp>(event) || std::holds_alternative<HostDraining>(event) ||
         std::holds_alternative<HostDown>(event) || std::holds_alternative<MoveFailed>(event) ||
         std::holds_alternative<FileGone>(event);
}

void GanttStrategy::observe(const Event& event) {
  follower_.observe(event);
  outdated_ = outdated_ || upsets_plans(event);
}

Plan GanttStrategy::plan(const World& world) {
  const bool due = next_event_ != kNever && world.now >= next_event_;
  if (due) interval_.learn(follower_.deviation());
  // Sites that could not get their files may have been left out.
  const bool was_barred = std::exchange(barred_, world.barred);
  if (outdated_ || due || is_plan_broken(world.refused) || was_barred || world.upset ||
      basis_.is_outdated(world, *estimates_, interval_.pause()))
    make_plan(world);
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
  basis_.remember(world, *estimates_);
  next_event_ = interval_.after(world.now);
  NumberedWorld numbers = numbered(world, *estimates_);
  std::vector<PlannedTransfer> kept;
  if (options_.choices.keep_queued_files) kept = keep_queued_files(numbers);
  GanttPlan chart = sched(numbers.situation, *numbers.estimates,
                          {.heuristic = options_.heuristic,
                           .horizon = interval_.seconds(),
                           .margin = options_.choices.margin,
                           .enough = options_.choices.enough,
                           .chart = options_.choices.chart,
                           .seed = options_.seed});
  chart.transfers.insert(chart.transfers.begin(), kept.begin(), kept.end());
  follower_.follow(std::move(chart), numbers, world.now);
}

std::vector<PlannedTransfer> GanttStrategy::keep_queued_files(NumberedWorld& numbers) const {
  std::vector<PlannedTransfer> kept;
  for (std::uint32_t index = 0; index < numbers.sites.size(); ++index) {
    PlanSite& site = numbers.situation.sites[index];
    for (const FileId file : follower_.queued_files(numbers.sites[index])) {
      Seconds& there = site.file_from[file.value()];
      if (there < kInfinite) continue;
      const Seconds start = site.inbound.free_from;
      there = numbers.estimates->moved(index, start, numbers.situation.files[file.value()].bytes,
                                       false);
      if (there == kInfinite) continue;
      site.inbound.free_from = there;
      kept.push_back({PlannedTransfer::What::shared_file, file.value(), index, start, there});
    }
  }
  return kept;
}

}  // namespace gantry::schedule
