// What the engine expects: how long a task takes, and how long the rest of the run.
#include <algorithm>
#include <cmath>

#include "engine/engine_impl.hpp"
#include "schedule/packing.hpp"

namespace gantry::engine {

std::uint64_t Engine::Impl::slots_in_all() const {
  std::uint64_t sum = 0;
  for (const auto& load : working()) sum += schedule::slots(*load.host, typical);
  return sum;
}

std::optional<Duration> Engine::Impl::expected(TaskId task, HostId host) const {
  const double cost = forecast::usable_cost(cost_of(task));
  const auto known = hosts.find(host);
  if (known == hosts.end()) return run_times.expected(cost);
  const auto pace = pace_of(known->second.host);
  return pace ? std::optional(from_seconds(*pace * cost)) : std::nullopt;
}

std::optional<double> Engine::Impl::pace_of(const Host& host) const {
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
/// What has to be done takes some time, however little is known of it.
constexpr double kSoonest = 0.1;

/// What runs over its forecast is expected to take as long again as it is over: "any moment now"
/// would be wrong for as long as it is shown.
double left_of(const schedule::Ongoing& given, double pace, double done) {
  const double whole = given.cost * pace;
  if (given.started == kNever) return whole;
  return std::abs(whole - std::max(done, 0.0));
}

}  // namespace

bool Engine::Impl::is_second(const schedule::Ongoing& given) const {
  if (given.attempt == AttemptId{}) return outstanding.contains(given.task);  // its files travel
  const auto first = outstanding.find(given.task);
  return first == outstanding.end() || first->second.attempt != given.attempt;
}

double Engine::Impl::cost_to_start() const {
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

Eta Engine::Impl::eta(TimePoint now) const {
  const Duration left = rest(now);
  if (left <= Duration{0}) return {};
  return widened(history.spread(share_done(), began == kNever ? Duration{0} : now - began, left));
}

Eta Engine::Impl::widened(Eta eta) const {
  if (!learned.known()) return eta;
  forecast::Margin margin = learned.margin_from(cursor);
  // What hosts and program of an earlier run have done, others may do faster or slower.
  if (ran.empty())
    margin = {std::max(margin.below, kElsewhere), std::max(margin.above, kElsewhere)};
  const double rest = seconds(eta.expected);
  const double sooner = std::hypot(rest - seconds(eta.soonest), rest * margin.below);
  const double later = std::hypot(seconds(eta.latest) - rest, rest * margin.above);
  eta.soonest = from_seconds(std::max(rest - sooner, rest * kSoonest));
  eta.latest = from_seconds(rest + later);
  return eta;
}

double Engine::Impl::share_done() const {
  const Counts& mine = tasks.selected();
  const std::uint32_t ended = mine.done + mine.failed + mine.cancelled;
  const std::uint32_t now = ended - std::min(ended, ended_before);
  const std::uint32_t all = mine.total - std::min(mine.total, ended_before);
  return all > 0 ? static_cast<double>(now) / all : 1;
}

void Engine::Impl::look_back(TimePoint now) {
  if (began == kNever) {
    began = now;
    const Counts& mine = tasks.selected();
    ended_before = mine.done + mine.failed + mine.cancelled;
  }
  const double share = share_done();
  if (!history.is_due(share)) return;
  if (const Duration left = rest(now); left > Duration{0}) history.look(share, now - began + left);
}

Duration Engine::Impl::rest(TimePoint now) const {
  const auto unit = run_times.expected(1);
  if (!unit || finished()) return Duration{0};
  // When all hosts are done at the same time: cost / speed.
  double cost = cost_to_start();
  double speed = 0;
  double longest = 0;
  std::uint64_t slots = 0;
  std::uint64_t open = draining.empty() ? tasks.selected().pending + tasks.selected().waiting : 0;
  for (const schedule::HostLoad& load : shown) {
    const double pace = std::max(pace_of(*load.host).value_or(seconds(*unit)), 1e-9);
    double here_left = 0;
    for (const schedule::Ongoing& given : load.ongoing) {
      if (is_second(given)) continue;
      const double done = given.started == kNever
                              ? 0
                              : seen.done_of(load.host->id, given.started, given.begun, now);
      const double each = left_of(given, pace, done);
      here_left += each;
      longest = std::max(longest, each);
      ++open;
    }
    cost += here_left / pace;
    if (hosts.at(load.host->id).draining) continue;
    const std::uint32_t here = schedule::slots(*load.host, typical);
    slots += here;
    speed += here / pace;
  }
  if (slots > open) speed *= static_cast<double>(open) / static_cast<double>(slots);
  speed *= efficiency.value();
  // Zero would say "not known".
  constexpr Duration kSoon = std::chrono::milliseconds(1);
  constexpr double kMost = 1e9;
  double even = speed > 0 ? std::min(cost / speed, kMost) : cost * seconds(*unit);
  // Who plans all of it knows better when which files arrive, and what is left for the end; but not
  // if the plan is from a time when nothing was known of how long tasks take.
  if (draining.empty() && planned_end != kNever && planned_end > now) {
    constexpr double kUnlikely = 2.5;
    const double planned = seconds(planned_end - now);
    if (planned < even * kUnlikely && planned > even / kUnlikely) even = planned;
  }
  Duration left = std::max(from_seconds(std::min(std::max(even, longest), kMost)), kSoon);
  // The last one whose back-off ends has yet to run then.
  if (draining.empty() && retries.last() != kNever)
    left = std::max(left, std::max(retries.last() - now, Duration{0}) + *unit);
  return left;
}

}  // namespace gantry::engine
