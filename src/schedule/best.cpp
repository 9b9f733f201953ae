#include "schedule/best.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "schedule/gantt_strategy.hpp"
#include "schedule/sched.hpp"

namespace gantry::schedule {

Best::Best(const BestOptions& options, std::shared_ptr<const EstimateSource> estimates)
    : options_(options),
      estimates_(std::move(estimates)),
      interval_(options.interval, options.adaptive) {}

Appetite Best::appetite() const {
  return {.ready = std::numeric_limits<std::size_t>::max(), .by_cost = true};
}

void Best::observe(const Event& event) {
  follower_.observe(event);
  outdated_ = outdated_ || upsets_plans(event);
}

Plan Best::plan(const World& world) {
  const bool due = next_event_ != gantry::kNever && world.now >= next_event_;
  if (due) interval_.learn(follower_.deviation());
  if (outdated_ || due || world.refused > 0) make_plan(world, true);
  Plan plan;
  const auto outcome = follower_.hand_out(world, plan);
  idle_ = idle_ || outcome.idle;
  const bool idle = idle_ && world.ready > plan.starts.size();
  const TimePoint rested = planned_at_ + from_seconds(options_.rest);
  if (!outcome.fits || (idle && rested <= world.now)) {
    make_plan(world, false);
    plan = {};
    follower_.hand_out(world, plan);
  }
  plan.ask_again = next_event_;
  if (idle && rested > world.now && (next_event_ == gantry::kNever || rested < next_event_))
    plan.ask_again = rested;
  return plan;
}

std::uint32_t Best::budget(const World& world) const {
  constexpr std::uint32_t kLater = 4;
  const std::uint32_t wanted = fetches_.empty() ? options_.decodings : options_.decodings / kLater;
  const std::uint64_t affordable = options_.placements / std::max<std::size_t>(world.ready, 1);
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(wanted, affordable));
}

std::vector<FetchLists> Best::starts(const NumberedWorld& numbers) const {
  std::vector<FetchLists> starts;
  FetchLists last(numbers.sites.size());
  for (std::size_t s = 0; s < numbers.sites.size(); ++s)
    if (const auto known = fetches_.find(numbers.sites[s]); known != fetches_.end())
      for (const FileId file : known->second) last[s].push_back(file.value());
  if (!fetches_.empty()) starts.push_back(std::move(last));
  if (!starts.empty()) return starts;
  for (const auto heuristic : {Heuristic::min_min, Heuristic::xsufferage}) {
    const GanttPlan plan = sched(numbers.situation, *numbers.estimates,
                                 {.heuristic = heuristic, .seed = options_.seed});
    starts.push_back(fetches_of(plan, numbers.sites.size()));
  }
  return starts;
}

void Best::make_plan(const World& world, bool search) {
  outdated_ = false;
  idle_ = false;
  planned_at_ = world.now;
  if (search) next_event_ = interval_.after(world.now);
  const NumberedWorld numbers = numbered(world, *estimates_);
  FetchPlan found =
      search_fetches(numbers.situation, *numbers.estimates, starts(numbers),
                     {.decodings = search ? budget(world) : 0, .seed = options_.seed});
  fetches_.clear();
  for (std::size_t s = 0; s < numbers.sites.size() && s < found.lists.size(); ++s)
    for (const std::uint32_t file : found.lists[s])
      fetches_[numbers.sites[s]].push_back(FileId(file));
  follower_.follow(std::move(found.plan), numbers, world.now);
}

}  // namespace gantry::schedule
