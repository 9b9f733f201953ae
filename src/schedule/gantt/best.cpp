#include "schedule/gantt/best.hpp"

#include <algorithm>
#include <utility>

#include "schedule/gantt/gantt_strategy.hpp"
#include "schedule/gantt/sched.hpp"

namespace gantry::schedule {

namespace {

/// A search with fewer decodings finds nothing, and its plans are worse than a heuristic's.
constexpr std::uint64_t kFewest = 40;

/// Tasks that take so long are worth a plan.
constexpr Duration kWorthPlanning = std::chrono::seconds(1);
/// The work queue looks at all kinds of tasks for each that it hands out.
constexpr std::size_t kFewClasses = 64;

bool are_too_short(const World& world) {
  const auto mean = world.run_times.mean();
  return mean && *mean < kWorthPlanning && world.classes.size() <= kFewClasses &&
         std::ranges::all_of(world.classes,
                             [](const ReadyClass& each) { return each.needs->files.empty(); });
}

/// When all is home.
Seconds end_of(const GanttPlan& plan) {
  Seconds end = 0;
  for (const PlannedTask& task : plan.tasks) end = std::max(end, task.returned);
  return end;
}

}  // namespace

Best::Best(const BestOptions& options, std::shared_ptr<const EstimateSource> estimates)
    : options_(options),
      estimates_(std::move(estimates)),
      too_many_({.heuristic = Heuristic::xsufferage,
                 .interval = options.interval,
                 .adaptive = options.adaptive,
                 .seed = options.seed},
                estimates_),
      interval_(options.interval, options.adaptive) {}

void Best::observe(const Event& event) {
  too_many_.observe(event);
  follower_.observe(event);
  outdated_ = outdated_ || upsets_plans(event);
}

Plan Best::plan(const World& world) {
  if (are_too_short(world)) {
    outdated_ = true;
    return too_short_.plan(world);
  }
  if (world.ready * kFewest > options_.placements) {
    outdated_ = true;
    return too_many_.plan(world);
  }
  const bool due = next_event_ != kNever && world.now >= next_event_;
  if (due) interval_.learn(follower_.deviation());
  // Sites that could not get their files may have been left out.
  const bool was_barred = std::exchange(barred_, world.barred);
  const Seconds pause = std::max(interval_.pause(), rest(world));
  if (outdated_ || due || is_plan_broken(world.refused) || was_barred || world.upset ||
      basis_.is_outdated(world, *estimates_, pause))
    make_plan(world, true);
  Plan plan;
  const auto outcome = follower_.hand_out(world, plan);
  idle_ = idle_ || outcome.idle;
  const bool idle = idle_ && world.ready > plan.starts.size();
  const TimePoint rested = planned_at_ + from_seconds(rest(world));
  if (!outcome.fits || (idle && rested <= world.now)) {
    make_plan(world, false);
    plan = {};
    follower_.hand_out(world, plan);
  }
  plan.ask_again = next_event_;
  plan.ends = ends_;
  if (idle && rested > world.now && (next_event_ == kNever || rested < next_event_))
    plan.ask_again = rested;
  return plan;
}

/// Large studies take longer to plan.
Seconds Best::rest(const World& world) const {
  constexpr double kLarge = 3000;
  return options_.rest * std::max(1.0, static_cast<double>(world.ready) / kLarge);
}

std::uint32_t Best::budget(const World& world) const {
  constexpr std::uint32_t kLater = 4;
  const std::uint32_t wanted = fetches_.empty() ? options_.decodings : options_.decodings / kLater;
  const std::uint64_t affordable = options_.placements / std::max<std::size_t>(world.ready, 1);
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(wanted, affordable));
}

/// Of the last plan, in today's numbers.
FetchLists Best::last_lists(const NumberedWorld& numbers) const {
  FetchLists last(numbers.sites.size());
  for (std::size_t s = 0; s < numbers.sites.size(); ++s)
    if (const auto known = fetches_.find(numbers.sites[s]); known != fetches_.end())
      for (const FileId file : known->second) last[s].push_back(file.value());
  return last;
}

FetchPlan Best::find_plan(const NumberedWorld& numbers, std::uint32_t decodings) const {
  const FetchSearchOptions how{.decodings = decodings, .seed = options_.seed};
  const bool all_known =
      std::ranges::all_of(numbers.sites, [&](SiteId site) { return fetches_.contains(site); });
  if (all_known) {
    // Files that were there when the lists were made may be gone: then there is no plan in them.
    FetchPlan found =
        search_fetches(numbers.situation, *numbers.estimates, {last_lists(numbers)}, how);
    if (found.makespan < kInfinite) return found;
  }
  // What a site that is new is good for, a search with little time would not find out.
  std::vector<FetchLists> starts;
  if (!fetches_.empty()) starts.push_back(last_lists(numbers));
  FetchPlan best;
  for (const auto heuristic : {Heuristic::min_min, Heuristic::xsufferage}) {
    GanttPlan plan = sched(numbers.situation, *numbers.estimates,
                           {.heuristic = heuristic, .seed = options_.seed});
    starts.push_back(fetches_of(plan, numbers.sites.size()));
    const Seconds makespan = end_of(plan);
    if (makespan < best.makespan) best = {starts.back(), makespan, std::move(plan)};
  }
  FetchPlan found = search_fetches(numbers.situation, *numbers.estimates, starts, how);
  return found.makespan <= best.makespan ? found : best;
}

void Best::make_plan(const World& world, bool search) {
  outdated_ = false;
  idle_ = false;
  planned_at_ = world.now;
  basis_.remember(world, *estimates_);
  if (search) next_event_ = interval_.after(world.now);
  const NumberedWorld numbers = numbered(world, *estimates_);
  FetchPlan found = find_plan(numbers, search ? budget(world) : 0);
  ends_ = found.makespan < kInfinite ? world.now + from_seconds(found.makespan) : kNever;
  // A site that is away will want the same when it is back.
  for (std::size_t s = 0; s < numbers.sites.size() && s < found.lists.size(); ++s) {
    auto& list = fetches_[numbers.sites[s]];
    list.clear();
    for (const std::uint32_t file : found.lists[s]) list.push_back(FileId(file));
  }
  follower_.follow(std::move(found.plan), numbers, world.now);
}

}  // namespace gantry::schedule
