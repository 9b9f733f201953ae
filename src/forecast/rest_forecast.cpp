#include "forecast/rest_forecast.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <span>
#include <vector>

#include "base/chance.hpp"
#include "forecast/host_paces.hpp"
#include "forecast/played_rest.hpp"

namespace gantry::forecast {

namespace {

/// By which part run times of another run may be off.
constexpr double kElsewhere = 0.5;
/// Seconds. Declared costs can be absurd, and with them what is calculated.
constexpr double kLongestRest = 1e9;
/// Seconds: time does not go much farther.
constexpr double kFarthestEnd = 9e9;
/// What has to be done takes some time, however little is known of it.
constexpr double kSoonest = 0.1;
/// Seconds for a cost of 1, which may be a trillion for a task of a second.
constexpr double kLeastPace = 1e-100;

Duration time_of(double seconds, double most = kLongestRest) {
  return from_seconds(seconds < most ? seconds : most);  // nor if it is not a number
}

/// By something that has nothing to do with what made the interval as wide as it is.
Eta widened_by(Eta eta, const Margin& margin) {
  const double rest = seconds(eta.expected);
  const double sooner = std::hypot(rest - seconds(eta.soonest), rest * margin.below);
  const double later = std::hypot(seconds(eta.latest) - rest, rest * margin.above);
  eta.soonest = from_seconds(std::max(rest - sooner, rest * kSoonest));
  eta.latest = time_of(rest + later, kFarthestEnd);
  return eta;
}

/// Of a host's slots, those that a run with this share of the grid may count on.
std::uint32_t our_part(std::uint32_t slots, double share) {
  if (share >= 1 || slots == 0) return slots;
  return std::max(static_cast<std::uint32_t>(std::lround(slots * share)), 1U);
}

/// On more hosts, what was seen on some of them tells how run times differ.
constexpr std::size_t kHostsAsked = 128;

/// What is known from run times that were seen, for a cost of 1.
struct LikelyTimes {
  std::vector<HostPace> paces{};  ///< of hosts, as loaded as they are now
  std::vector<double> seen{};     ///< as if on a usual host of speed 1
  double mean = 0;                ///< of those
};

/// Nothing when nothing was seen.
std::optional<LikelyTimes> likely_times(const TimeBook& times, std::span<const OpenHost> hosts) {
  const auto& samples = times.samples();
  if (samples.empty()) return std::nullopt;
  // One lookup a host: there may be thousands.
  std::vector<const RunTimeSample*> there;
  HostPaces paces;
  for (const OpenHost& host : hosts) {
    const auto sample = samples.find(host.id);
    there.push_back(sample != samples.end() ? &sample->second.times : nullptr);
    if (there.back() != nullptr) paces.add(*there.back(), host.speed);
  }
  paces.settle();
  LikelyTimes likely;
  const std::size_t each = std::max<std::size_t>(RunTimeSample::kMost / samples.size(), 1);
  const std::size_t step = samples.size() / kHostsAsked + 1;
  std::size_t nth = 0;
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    HostPace pace = paces.of(there[i], hosts[i].speed);
    // By chance: each eighth may be of the same site, or of the same speed.
    if (there[i] != nullptr && mixed(nth++) % step == 0)
      for (const double time : there[i]->last(each)) likely.seen.push_back(time / pace.times);
    // What was seen is as if the host were as loaded as when it first told.
    pace.times /= times.seen().speed(hosts[i].id);
    likely.paces.push_back(pace);
  }
  // What was seen on the last host that went away, if there is nothing else.
  if (likely.seen.empty()) {
    const HostSample& last = samples.begin()->second;
    for (const double time : last.times.last(each))
      likely.seen.push_back(time * usable_cost(last.speed));
  }
  likely.mean = std::accumulate(likely.seen.begin(), likely.seen.end(), 0.0) /
                static_cast<double>(likely.seen.size());
  return likely;
}

/// What has to be done yet, and who does it.
struct Remaining {
  double cost = 0;
  std::uint64_t tasks = 0;
  double longest = 0;  ///< seconds that are left of a task which was given to a host
  std::uint64_t slots = 0;
  double speed = 0;  ///< of all of them: cost in a second

  void add_slots(std::uint32_t count, double pace) {
    slots += count;
    speed += count / pace;
  }
};

Remaining remaining(const RestInput& in, const LikelyTimes* likely, double unit) {
  Remaining left{.cost = in.run.cost_to_start, .tasks = in.run.to_start + in.run.attempts.size()};
  std::vector<double> paces;
  for (std::size_t i = 0; i < in.run.hosts.size(); ++i) {
    const OpenHost& host = in.run.hosts[i];
    const auto known = likely != nullptr ? likely->mean * likely->paces[i].times
                                         : in.times.pace(host.id, host.speed);
    paces.push_back(std::max(known.value_or(unit), kLeastPace));
    left.add_slots(host.slots, paces.back());
  }
  for (const OpenAttempt& given : in.run.attempts) {
    const double pace = paces[given.host];
    const double each = in.times.left_of(in.run.hosts[given.host].id, given.cost * pace,
                                         given.started, given.begun, in.now);
    left.cost += each / pace;
    left.longest = std::max(left.longest, each);
  }
  return left;
}

/// Seconds until all are done at the same time; nothing if nobody works.
std::optional<double> even(const RestInput& in, const Remaining& left) {
  const double ours = static_cast<double>(left.slots) * in.run.share;
  const auto open = static_cast<double>(left.tasks);
  const double used = ours > open ? open / ours : 1;
  const double whole = left.speed * in.run.share * used * in.times.efficiency();
  return whole > 0 ? std::optional(left.cost / whole) : std::nullopt;
}

bool has_plan(const RestInput& in) {
  return in.run.planned_end != kNever && in.run.planned_end > in.now;
}

/// Seconds. Who plans all of it knows better when which files arrive, and what is left for the end;
/// but not if the plan is from a time when nothing was known of how long tasks take, and was wrong.
double as_planned(const RestInput& in, double even) {
  if (!has_plan(in)) return even;
  constexpr double kUnlikely = 2.5;
  constexpr double kUnlikelyIfBlind = 1.4;
  const double unlikely = in.run.planned_blindly ? kUnlikelyIfBlind : kUnlikely;
  const double planned = seconds(in.run.planned_end - in.now);
  return planned < even * unlikely && planned > even / unlikely ? planned : even;
}

/// Until the first of the jobs that wait in queues comes, if that is known.
std::optional<QueueWaits::Rest> rest_of_queue(const RestInput& in) {
  std::optional<QueueWaits::Rest> first;
  for (const ComingHost& job : in.run.coming) {
    const QueueWaits* queue = in.times.seen().queue(job.site);
    const auto rest = queue != nullptr ? queue->left(seconds(in.now - job.since)) : std::nullopt;
    if (rest && (!first || rest->expected < first->expected)) first = rest;
  }
  return first;
}

/// How long the rest will take but for back-offs; 0 = not known. nullptr: by what hosts were like
/// of late.
Duration rest(const RestInput& in, const LikelyTimes* likely) {
  const auto unit = in.times.run_times().expected(1);
  if (!unit) return Duration{0};
  Remaining left = remaining(in, likely, seconds(*unit));
  const auto wait = rest_of_queue(in);
  for (auto job = in.run.coming.begin(); wait && job != in.run.coming.end(); ++job)
    left.add_slots(job->slots, std::max(in.times.pace(job->id, job->speed).value_or(seconds(*unit)),
                                        kLeastPace));
  // Zero would say "not known".
  constexpr Duration kSoon = std::chrono::milliseconds(1);
  double all = even(in, left).value_or(left.cost * seconds(*unit));
  if (!(all < kLongestRest)) all = kLongestRest;  // nor if it is no number
  all = as_planned(in, all);
  if (wait) all += wait->expected;
  return std::max(from_seconds(std::min(std::max(all, left.longest), kLongestRest)), kSoon);
}

/// The last one whose back-off ends has yet to run then; 0 = none.
Duration until_retried(const RestInput& in) {
  const auto unit = in.times.run_times().expected(1);
  if (!unit || in.run.last_retry == kNever) return Duration{0};
  return std::max(in.run.last_retry - in.now, Duration{0}) + *unit;
}

/// For a cost of 1.
RestOfRun to_play(const RestInput& in, const LikelyTimes& likely) {
  RestOfRun rest{.seen = likely.seen, .waiting = in.run.to_start};
  for (std::size_t i = 0; i < in.run.hosts.size(); ++i)
    rest.hosts.push_back(
        {.pace = likely.paces[i], .slots = our_part(in.run.hosts[i].slots, in.run.share)});
  for (const OpenAttempt& given : in.run.attempts) {
    PlayedHost& host = rest.hosts[given.host];
    if (given.started == kNever) {
      ++(host.slots > 0 && !in.run.moves_waiting ? host.given : rest.waiting);
      continue;
    }
    const HostId id = in.run.hosts[given.host].id;
    const double done = in.times.seen().done_of(id, given.started, given.begun, in.now);
    const double lasted = std::max(done, 0.0) / given.cost;
    host.running.push_back(std::isfinite(lasted) ? lasted : 0);
  }
  return rest;
}

/// Of what has not ended; an estimate.
double mean_open_cost(const RestInput& in) {
  double cost = in.run.cost_to_start;
  for (const OpenAttempt& given : in.run.attempts) cost += given.cost;
  const auto open = static_cast<double>(in.run.to_start + in.run.attempts.size());
  return open > 0 ? cost / open : 1;
}

/// rest_by_chance() without back-offs. Few tasks are played, if the strategy has not told when they
/// end.
Eta played(const RestInput& in) {
  const bool plays = !has_plan(in) && in.run.total - in.run.ended <= kMostPlayed;
  // Of much that is left on several hosts, how fast they are now says more than what they were
  // like so far.
  const auto likely =
      plays || in.run.hosts.size() == 1 ? likely_times(in.times, in.run.hosts) : std::nullopt;
  const Duration left = rest(in, likely ? &*likely : nullptr);
  const Eta sure{left, left, left};
  if (!plays || !likely || left <= Duration{0}) return sure;
  const RestOfRun run = to_play(in, *likely);
  const auto found = play_rest(run);
  if (!found || !(found->middle > 0)) return sure;
  // What is played is also a better guess than `left`: it knows that some tasks are long, and that
  // the last ones leave slots idle. But `left` knows what tasks cost, and of gaps between them.
  // Nothing may be left of what is due now: hence one task more.
  const double task = likely->mean * mean_open_cost(in);
  const double unit = (seconds(left) + task) / (even_rest(run, likely->mean) + likely->mean);
  if (!std::isfinite(unit)) return sure;
  return {time_of(found->middle * unit), time_of(found->soonest * unit),
          time_of(found->latest * unit)};
}

/// What is not known of tasks beyond those that were seen.
Margin unseen(const RestInput& in) {
  const Margin margin = in.times.learned().margin_from(in.run.next_index);
  if (!in.times.is_of_another_run()) return margin;
  // What hosts and program of an earlier run have done, others may do faster or slower.
  return {std::max(margin.below, kElsewhere), std::max(margin.above, kElsewhere)};
}

/// If all that is yet to start were as quick as what was quickest.
Duration soonest_possible(const RestInput& in) {
  std::uint64_t slots = 0;
  for (const OpenHost& host : in.run.hosts) slots += host.slots;
  const auto quickest = in.times.quickest();
  if (slots == 0 || !quickest) return Duration{0};
  return time_of(in.run.cost_to_start * *quickest / (static_cast<double>(slots) * in.run.share));
}

}  // namespace

Eta rest_by_chance(const RestInput& in) {
  Eta eta = played(in);
  const Duration least = until_retried(in);
  eta.soonest = std::max(eta.soonest, least);
  eta.expected = std::max(eta.expected, least);
  eta.latest = std::max(eta.latest, least);
  return eta;
}

Eta widened_rest(const RestInput& in, Eta usual, const Eta& chance) {
  const double left = seconds(chance.expected);
  Eta eta = in.times.learned().known() ? widened_by(usual, unseen(in)) : usual;
  eta = widened_by(eta, {.below = 1 - seconds(chance.soonest) / left,
                         .above = seconds(chance.latest) / left - 1});
  eta.soonest = std::clamp(soonest_possible(in), eta.soonest, eta.expected);
  const auto wait = rest_of_queue(in);
  if (!wait) return eta;
  eta.soonest = std::max(eta.soonest - from_seconds(wait->expected - wait->soonest),
                         from_seconds(left * kSoonest));
  eta.latest += from_seconds(std::max(wait->latest - wait->expected, 0.0));
  return eta;
}

}  // namespace gantry::forecast
