#include "forecast/rest_forecast.hpp"

#include <algorithm>
#include <cmath>

namespace gantry::forecast {

namespace {

/// By which part run times of another run may be off.
constexpr double kElsewhere = 0.5;
/// Seconds. Declared costs can be absurd, and with them what is calculated.
constexpr double kLongestRest = 1e9;
/// Seconds: time does not go much farther.
constexpr double kFarthest = 9e9;
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
  eta.latest = time_of(rest + later, kFarthest);
  return eta;
}

/// Of a host's slots, those that a run with this share of the grid may count on.
std::uint32_t our_part(std::uint32_t slots, double share) {
  if (share >= 1 || slots == 0) return slots;
  return std::max(static_cast<std::uint32_t>(std::lround(slots * share)), 1U);
}

}  // namespace

Eta RestForecast::widened(Eta usual, const Eta& chance) const {
  const double left = seconds(chance.expected);
  Eta eta = times_.learned().known() ? widened_by(usual, unseen()) : usual;
  eta = widened_by(eta, {.below = 1 - seconds(chance.soonest) / left,
                         .above = seconds(chance.latest) / left - 1});
  eta.soonest = std::clamp(soonest_possible(), eta.soonest, eta.expected);
  const auto wait = rest_of_queue();
  if (!wait) return eta;
  eta.soonest = std::max(eta.soonest - from_seconds(wait->expected - wait->soonest),
                         from_seconds(left * kSoonest));
  eta.latest += from_seconds(std::max(wait->latest - wait->expected, 0.0));
  return eta;
}

Margin RestForecast::unseen() const {
  const Margin margin = times_.learned().margin_from(run_.next_index);
  if (!times_.is_of_another_run()) return margin;
  // What hosts and program of an earlier run have done, others may do faster or slower.
  return {std::max(margin.below, kElsewhere), std::max(margin.above, kElsewhere)};
}

std::optional<QueueWaits::Rest> RestForecast::rest_of_queue() const {
  std::optional<QueueWaits::Rest> first;
  for (const ComingHost& job : run_.coming) {
    const QueueWaits* queue = times_.seen().queue(job.site);
    const auto rest = queue != nullptr ? queue->left(seconds(now_ - job.since)) : std::nullopt;
    if (rest && (!first || rest->expected < first->expected)) first = rest;
  }
  return first;
}

Duration RestForecast::soonest_possible() const {
  std::uint64_t slots = 0;
  for (const OpenHost& host : run_.hosts) slots += host.slots;
  const auto quickest = times_.quickest();
  if (slots == 0 || !quickest) return Duration{0};
  return time_of(run_.cost_to_start * *quickest / (static_cast<double>(slots) * run_.share));
}

RestForecast::Remaining RestForecast::remaining(const LikelyTimes* likely, double unit) const {
  Remaining left{.cost = run_.cost_to_start, .tasks = run_.to_start + run_.attempts.size()};
  std::vector<double> paces;
  for (std::size_t i = 0; i < run_.hosts.size(); ++i) {
    const OpenHost& host = run_.hosts[i];
    const auto known = likely != nullptr ? likely->mean * likely->paces[i].times
                                         : times_.pace(host.id, host.speed);
    paces.push_back(std::max(known.value_or(unit), kLeastPace));
    left.add_slots(host.slots, paces.back());
  }
  for (const OpenAttempt& given : run_.attempts) {
    const double pace = paces[given.host];
    const double each = times_.left_of(run_.hosts[given.host].id, given.cost * pace, given.started,
                                       given.begun, now_);
    left.cost += each / pace;
    left.longest = std::max(left.longest, each);
  }
  return left;
}

std::optional<double> RestForecast::even(const Remaining& left) const {
  const double ours = static_cast<double>(left.slots) * run_.share;
  const auto open = static_cast<double>(left.tasks);
  const double used = ours > open ? open / ours : 1;
  const double whole = left.speed * run_.share * used * times_.efficiency();
  return whole > 0 ? std::optional(left.cost / whole) : std::nullopt;
}

Duration RestForecast::rest(const LikelyTimes* likely) const {
  const auto unit = times_.run_times().expected(1);
  if (!unit) return Duration{0};
  Remaining left = remaining(likely, seconds(*unit));
  const auto wait = rest_of_queue();
  for (auto job = run_.coming.begin(); wait && job != run_.coming.end(); ++job)
    left.add_slots(job->slots,
                   std::max(times_.pace(job->id, job->speed).value_or(seconds(*unit)), kLeastPace));
  // Zero would say "not known".
  constexpr Duration kSoon = std::chrono::milliseconds(1);
  double all = even(left).value_or(left.cost * seconds(*unit));
  if (!(all < kLongestRest)) all = kLongestRest;  // nor if it is no number
  all = as_planned(all);
  if (wait) all += wait->expected;
  return std::max(from_seconds(std::min(std::max(all, left.longest), kLongestRest)), kSoon);
}

// Who plans all of it knows better when which files arrive, and what is left for the end; but not
// if the plan is from a time when nothing was known of how long tasks take, and was wrong.
double RestForecast::as_planned(double even) const {
  if (!has_plan()) return even;
  constexpr double kUnlikely = 2.5;
  constexpr double kUnlikelyIfBlind = 1.4;
  const double unlikely = run_.planned_blindly ? kUnlikelyIfBlind : kUnlikely;
  const double planned = seconds(run_.planned_end - now_);
  return planned < even * unlikely && planned > even / unlikely ? planned : even;
}

Duration RestForecast::until_retried() const {
  const auto unit = times_.run_times().expected(1);
  if (!unit || run_.last_retry == kNever) return Duration{0};
  return std::max(run_.last_retry - now_, Duration{0}) + *unit;
}

RestOfRun RestForecast::to_play(const LikelyTimes& likely) const {
  RestOfRun rest{.seen = likely.seen, .waiting = run_.to_start};
  for (std::size_t i = 0; i < run_.hosts.size(); ++i)
    rest.hosts.push_back(
        {.pace = likely.paces[i], .slots = our_part(run_.hosts[i].slots, run_.share)});
  for (const OpenAttempt& given : run_.attempts) {
    PlayedHost& host = rest.hosts[given.host];
    if (given.started == kNever) {
      ++(host.slots > 0 && !run_.moves_waiting ? host.given : rest.waiting);
      continue;
    }
    const HostId id = run_.hosts[given.host].id;
    const double done = times_.seen().done_of(id, given.started, given.begun, now_);
    const double lasted = std::max(done, 0.0) / given.cost;
    host.running.push_back(std::isfinite(lasted) ? lasted : 0);
  }
  return rest;
}

double RestForecast::mean_open_cost() const {
  double cost = run_.cost_to_start;
  for (const OpenAttempt& given : run_.attempts) cost += given.cost;
  const auto open = static_cast<double>(run_.to_start + run_.attempts.size());
  return open > 0 ? cost / open : 1;
}

bool RestForecast::is_played() const {
  return !has_plan() && run_.total - run_.ended <= kMostPlayed;
}

Eta RestForecast::by_chance() const {
  Eta eta = played();
  const Duration least = until_retried();
  eta.soonest = std::max(eta.soonest, least);
  eta.expected = std::max(eta.expected, least);
  eta.latest = std::max(eta.latest, least);
  return eta;
}

Eta RestForecast::played() const {
  const bool plays = is_played();
  // Of much that is left on several hosts, how fast they are now says more than what they were
  // like so far.
  const auto likely =
      plays || run_.hosts.size() == 1 ? likely_times(times_, run_.hosts) : std::nullopt;
  const Duration left = rest(likely ? &*likely : nullptr);
  const Eta sure{left, left, left};
  if (!plays || !likely || left <= Duration{0}) return sure;
  const RestOfRun run = to_play(*likely);
  const auto found = play_rest(run);
  if (!found || !(found->middle > 0)) return sure;
  // What is played is also a better guess than `left`: it knows that some tasks are long, and that
  // the last ones leave slots idle. But `left` knows what tasks cost, and of gaps between them.
  // Nothing may be left of what is due now: hence one task more.
  const double task = likely->mean * mean_open_cost();
  const double unit = (seconds(left) + task) / (even_rest(run, likely->mean) + likely->mean);
  if (!std::isfinite(unit)) return sure;
  return {time_of(found->middle * unit), time_of(found->soonest * unit),
          time_of(found->latest * unit)};
}

}  // namespace gantry::forecast
