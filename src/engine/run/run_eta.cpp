// What the engine expects: how long a task takes, and how long the rest of the run.
#include <algorithm>
#include <cmath>

#include "engine/run/run.hpp"
#include "schedule/packing.hpp"

namespace gantry::engine {

namespace {

/// Declared costs can be absurd, and with them what is calculated.
Duration at_most(double left, double most = 1e9) {
  return from_seconds(left < most ? left : most);  // not so if it is not a number
}

}  // namespace

std::uint64_t Run::slots_in_all() const {
  std::uint64_t sum = 0;
  for (const auto& load : grid.working()) sum += schedule::slots(*load.host, typical);
  return sum;
}

std::optional<Duration> Run::expected(TaskId task, HostId host) const {
  const double cost = forecast::usable_cost(cost_of(task));
  const HostState* state = grid.find(host);
  if (state == nullptr) return run_times.expected(cost);
  const auto pace = pace_of(state->host);
  return pace ? std::optional(at_most(*pace * cost)) : std::nullopt;
}

std::optional<double> Run::pace_of(const Host& host) const {
  if (const auto pace = seen.pace(host.id)) return pace;
  const auto unit = run_times.expected(1);
  if (!unit) return std::nullopt;
  // What an earlier run has taught is of a host of speed 1.
  const bool is_of_another = learned.known() && ran.empty() && host.speed > 0;
  return seconds(*unit) / (is_of_another ? host.speed : 1);
}

namespace {

/// By which part run times of another run may be off.
constexpr double kElsewhere = 0.5;
/// Seconds: time does not go much farther.
constexpr double kFarthest = 9e9;
/// What has to be done takes some time, however little is known of it.
constexpr double kSoonest = 0.1;

/// Seconds for a cost of 1, which may be a trillion for a task of a second.
constexpr double kLeastPace = 1e-100;

/// By something that has nothing to do with what made the interval as wide as it is.
Eta widened_by(Eta eta, const forecast::Margin& margin) {
  const double rest = seconds(eta.expected);
  const double sooner = std::hypot(rest - seconds(eta.soonest), rest * margin.below);
  const double later = std::hypot(seconds(eta.latest) - rest, rest * margin.above);
  eta.soonest = from_seconds(std::max(rest - sooner, rest * kSoonest));
  eta.latest = at_most(rest + later, kFarthest);
  return eta;
}

}  // namespace

bool Run::counts_once(const schedule::Ongoing& given) const {
  if (given.run != run_id) return false;
  if (given.attempt == AttemptId{}) return !outstanding.contains(given.task);  // its files travel
  const auto first = outstanding.find(given.task);
  return first != outstanding.end() && first->second.attempt == given.attempt;
}

double Run::cost_to_start() const {
  if (!draining.empty()) return 0;
  const Counts& mine = tasks.selected();
  double cost = 0;
  std::uint64_t others = mine.pending + mine.waiting;
  if (appetite.by_cost) {
    for (const schedule::ReadyClass& each : ready.view()) {
      cost += forecast::usable_cost(each.needs->cost) * static_cast<double>(each.places->size());
      others -= std::min<std::uint64_t>(others, each.places->size());
    }
    return cost + static_cast<double>(others) * mean_cost_from(cursor);
  }
  // Those in the window, just before the cursor, are yet to start.
  const auto first =
      cursor - static_cast<std::uint32_t>(std::min<std::size_t>(cursor, ready.placeable()));
  return static_cast<double>(others) * mean_cost_from(first);
}

Eta Run::eta(TimePoint now) const {
  const Eta chance = by_chance(now);
  const Duration left = chance.expected;
  if (left <= Duration{0}) return {};
  Eta eta =
      widened(history.spread(share_done(), began == kNever ? Duration{0} : now - began, left));
  eta = widened_by(eta, {.below = 1 - seconds(chance.soonest) / seconds(left),
                         .above = seconds(chance.latest) / seconds(left) - 1});
  eta.soonest = std::clamp(soonest_possible(), eta.soonest, eta.expected);
  const auto wait = rest_of_queue(now);
  if (!wait) return eta;
  eta.soonest = std::max(eta.soonest - from_seconds(wait->expected - wait->soonest),
                         from_seconds(seconds(left) * kSoonest));
  eta.latest += from_seconds(std::max(wait->latest - wait->expected, 0.0));
  return eta;
}

std::optional<forecast::QueueWaits::Rest> Run::rest_of_queue(TimePoint now) const {
  if (grid.working_hosts > 0) return std::nullopt;
  std::optional<forecast::QueueWaits::Rest> first;
  for (const auto& [id, job] : grid.coming) {
    const forecast::QueueWaits* queue = seen.queue(job.host.site);
    const auto rest = queue != nullptr ? queue->left(seconds(now - job.since)) : std::nullopt;
    if (rest && (!first || rest->expected < first->expected)) first = rest;
  }
  return first;
}

Duration Run::soonest_possible() const {
  constexpr std::uint32_t kEnoughTimed = 20;  // of fewer the quickest is too much like the mean
  const std::uint64_t slots = slots_in_all();
  if (slots == 0 || timed < kEnoughTimed) return Duration{0};
  return at_most(cost_to_start() * quickest / (static_cast<double>(slots) * entitled));
}

Eta Run::widened(Eta eta) const {
  if (!learned.known()) return eta;
  forecast::Margin margin = learned.margin_from(cursor);
  // What hosts and program of an earlier run have done, others may do faster or slower.
  if (ran.empty())
    margin = {std::max(margin.below, kElsewhere), std::max(margin.above, kElsewhere)};
  return widened_by(eta, margin);
}

double Run::share_done() const {
  const Counts& mine = tasks.selected();
  const std::uint32_t ended = mine.done + mine.failed + mine.cancelled;
  const std::uint32_t now = ended - std::min(ended, ended_before);
  const std::uint32_t all = mine.total - std::min(mine.total, ended_before);
  return all > 0 ? static_cast<double>(now) / all : 1;
}

void Run::look_back(TimePoint now) {
  if (began == kNever) {
    began = now;
    const Counts& mine = tasks.selected();
    ended_before = mine.done + mine.failed + mine.cancelled;
  }
  const double share = share_done();
  if (!history.is_due(share)) return;
  const Eta chance = by_chance(now);
  if (chance.expected <= Duration{0}) return;
  // So many standard deviations is what four of five lie in.
  constexpr double kDeviations = 2.56;
  const Duration passed = now - began;
  history.look(
      share, passed + chance.expected,
      std::log(seconds(passed + chance.latest) / seconds(passed + chance.soonest)) / kDeviations);
}

// What runs over its forecast is expected to take as long again as it is over: "any moment now"
// would be wrong for as long as it is shown.
double Run::left_of(const schedule::Ongoing& given, HostId host, double pace, TimePoint now) const {
  // What another run's tasks cost is not known here.
  const double whole = given.run == run_id ? given.cost * pace : seconds(given.expected);
  if (given.started == kNever) return whole;
  const double done = seen.done_of(host, given.started, given.begun, now);
  return std::abs(whole - std::max(done, 0.0));
}

Remaining Run::remaining(TimePoint now, const LikelyTimes* likely, double unit) const {
  Remaining left{.cost = cost_to_start(), .share = entitled};
  if (draining.empty()) left.tasks = tasks.selected().pending + tasks.selected().waiting;
  for (std::size_t i = 0; i < grid.shown.size(); ++i) {
    const schedule::HostLoad& load = grid.shown[i];
    const auto known =
        likely != nullptr ? likely->mean * likely->hosts[i].times : pace_of(*load.host);
    const double pace = std::max(known.value_or(unit), kLeastPace);
    for (const schedule::Ongoing& given : load.ongoing) {
      if (!counts_once(given)) continue;
      const double each = left_of(given, load.host->id, pace, now);
      left.cost += each / pace;
      left.longest = std::max(left.longest, each);
      ++left.tasks;
    }
    if (i < grid.working_hosts) left.add_slots(schedule::slots(*load.host, typical), pace);
  }
  return left;
}

Duration Run::rest(TimePoint now, const LikelyTimes* likely) const {
  const auto unit = run_times.expected(1);
  if (!unit || finished()) return Duration{0};
  Remaining left = remaining(now, likely, seconds(*unit));
  const auto wait = rest_of_queue(now);
  for (auto job = grid.coming.begin(); wait && job != grid.coming.end(); ++job)
    left.add_slots(schedule::slots(job->second.host, typical),
                   std::max(pace_of(job->second.host).value_or(seconds(*unit)), kLeastPace));
  // Zero would say "not known".
  constexpr Duration kSoon = std::chrono::milliseconds(1);
  constexpr double kMost = 1e9;
  double even = left.even(efficiency.value()).value_or(left.cost * seconds(*unit));
  if (!(even < kMost)) even = kMost;  // nor if it is no number
  even = as_planned(even, now);
  if (wait) even += wait->expected;
  return std::max(from_seconds(std::min(std::max(even, left.longest), kMost)), kSoon);
}

// Who plans all of it knows better when which files arrive, and what is left for the end; but not
// if the plan is from a time when nothing was known of how long tasks take, and was wrong.
double Run::as_planned(double even, TimePoint now) const {
  if (!has_plan(now)) return even;
  constexpr double kUnlikely = 2.5;
  constexpr double kUnlikelyIfBlind = 1.4;
  const double unlikely = planned_blindly ? kUnlikelyIfBlind : kUnlikely;
  const double planned = seconds(planned_end - now);
  return planned < even * unlikely && planned > even / unlikely ? planned : even;
}

Duration Run::until_retried(TimePoint now) const {
  const auto unit = run_times.expected(1);
  if (!unit || finished() || !draining.empty() || retries.last() == kNever) return Duration{0};
  return std::max(retries.last() - now, Duration{0}) + *unit;
}

}  // namespace gantry::engine
