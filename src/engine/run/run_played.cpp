// What chance does to the end of a run: its rest is played with run times that were seen.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/chance.hpp"
#include "engine/run/run.hpp"
#include "schedule/packing.hpp"

namespace gantry::engine {

namespace {
/// On more hosts, what was seen on some of them tells how run times differ.
constexpr std::size_t kHostsAsked = 128;
constexpr double kMostSeconds = 1e9;

/// Of a host's slots, those that a run with this share of the grid may count on.
std::uint32_t our_part(std::uint32_t slots, double share) {
  if (share >= 1 || slots == 0) return slots;
  return std::max(static_cast<std::uint32_t>(std::lround(slots * share)), 1U);
}
}  // namespace

std::optional<LikelyTimes> Run::likely_times() const {
  if (samples.empty()) return std::nullopt;
  // One lookup a host: there may be thousands.
  std::vector<const forecast::RunTimeSample*> there;
  forecast::HostPaces paces;
  for (const schedule::HostLoad& load : grid.shown) {
    const auto sample = samples.find(load.host->id);
    there.push_back(sample != samples.end() ? &sample->second.times : nullptr);
    if (there.back() != nullptr) paces.add(*there.back(), load.host->speed);
  }
  paces.settle();
  LikelyTimes likely;
  const std::size_t each =
      std::max<std::size_t>(forecast::RunTimeSample::kMost / samples.size(), 1);
  const std::size_t step = samples.size() / kHostsAsked + 1;
  std::size_t nth = 0;
  for (std::size_t i = 0; i < grid.shown.size(); ++i) {
    forecast::HostPace pace = paces.of(there[i], grid.shown[i].host->speed);
    // By chance: each eighth may be of the same site, or of the same speed.
    if (there[i] != nullptr && mixed(nth++) % step == 0)
      for (const double time : there[i]->last(each)) likely.seen.push_back(time / pace.times);
    // What was seen is as if the host were as loaded as when it first told.
    pace.times /= seen.speed(grid.shown[i].host->id);
    likely.hosts.push_back(pace);
  }
  // What was seen on the last host that went away, if there is nothing else.
  if (likely.seen.empty()) {
    const auto& [speed, times] = samples.begin()->second;
    for (const double time : times.last(each))
      likely.seen.push_back(time * forecast::usable_cost(speed));
  }
  likely.mean = std::accumulate(likely.seen.begin(), likely.seen.end(), 0.0) /
                static_cast<double>(likely.seen.size());
  return likely;
}

forecast::RestOfRun Run::rest_of_run(const LikelyTimes& likely, TimePoint now) const {
  forecast::RestOfRun run{.seen = likely.seen};
  if (draining.empty()) run.waiting = tasks.selected().pending + tasks.selected().waiting;
  for (std::size_t i = 0; i < grid.shown.size(); ++i) {
    const schedule::HostLoad& load = grid.shown[i];
    forecast::PlayedHost host{.pace = likely.hosts[i]};
    host.slots =
        i < grid.working_hosts ? our_part(schedule::slots(*load.host, typical), entitled) : 0;
    for (const schedule::Ongoing& given : load.ongoing) {
      if (!counts_once(given)) continue;
      if (given.started == kNever) {
        ++(host.slots > 0 && !appetite.takes_over ? host.given : run.waiting);
        continue;
      }
      const double done = seen.done_of(load.host->id, given.started, given.begun, now);
      const double lasted = std::max(done, 0.0) / given.cost;
      host.running.push_back(std::isfinite(lasted) ? lasted : 0);
    }
    run.hosts.push_back(std::move(host));
  }
  return run;
}

double Run::mean_open_cost() const {
  const std::uint64_t to_start =
      draining.empty() ? tasks.selected().pending + tasks.selected().waiting : 0;
  double cost = cost_to_start();
  auto open = static_cast<double>(to_start);
  for (const schedule::HostLoad& load : grid.shown) {
    for (const schedule::Ongoing& given : load.ongoing) {
      if (!counts_once(given)) continue;
      cost += given.cost;
      ++open;
    }
  }
  return open > 0 ? cost / open : 1;
}

bool Run::is_played(TimePoint now) const {
  const Counts& mine = tasks.selected();
  const std::uint64_t open = mine.total - mine.done - mine.failed - mine.cancelled;
  return !has_plan(now) && open <= forecast::kMostPlayed;
}

Eta Run::by_chance(TimePoint now) const {
  Eta eta = played(now);
  const Duration least = until_retried(now);
  eta.soonest = std::max(eta.soonest, least);
  eta.expected = std::max(eta.expected, least);
  eta.latest = std::max(eta.latest, least);
  return eta;
}

Eta Run::played(TimePoint now) const {
  const bool plays = is_played(now);
  // Of much that is left on several hosts, how fast they are now says more than what they were
  // like so far.
  const auto likely = plays || grid.shown.size() == 1 ? likely_times() : std::nullopt;
  const Duration left = rest(now, likely ? &*likely : nullptr);
  const Eta sure{left, left, left};
  if (!plays || !likely || left <= Duration{0}) return sure;
  const forecast::RestOfRun run = rest_of_run(*likely, now);
  const auto found = forecast::play_rest(run);
  if (!found || !(found->middle > 0)) return sure;
  // What is played is also a better guess than `left`: it knows that some tasks are long, and that
  // the last ones leave slots idle. But `left` knows what tasks cost, and of gaps between them.
  // Nothing may be left of what is due now: hence one task more.
  const double task = likely->mean * mean_open_cost();
  const double unit =
      (seconds(left) + task) / (forecast::even_rest(run, likely->mean) + likely->mean);
  if (!std::isfinite(unit)) return sure;
  const auto in_time = [&](double end) {
    const double time = end * unit;
    return from_seconds(time < kMostSeconds ? time : kMostSeconds);  // nor if it is no number
  };
  return {in_time(found->middle), in_time(found->soonest), in_time(found->latest)};
}

}  // namespace gantry::engine
