#include "schedule/learned_estimates.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "forecast/grid_forecast.hpp"

namespace gantry::schedule {

namespace {

/// Seconds for a cost of 1 that hosts take at least on which nothing has ended yet: all that runs
/// there has taken so long already. One long task among others says nothing of its host.
std::map<HostId, double> least_paces(const World& world, const forecast::GridForecast& seen) {
  std::map<HostId, double> paces;
  for (const HostLoad& load : world.hosts) {
    const HostId host = load.host->id;
    if (seen.pace(host)) continue;
    double least = kInfinite;
    for (const Ongoing& given : load.ongoing)
      if (given.started != kNever && is_ours(world, given))
        least = std::min(least, seen.done_of(host, given.started, given.begun, world.now) /
                                    forecast::usable_cost(given.cost));
    if (least > 0 && least < kInfinite) paces[host] = least;
  }
  return paces;
}

}  // namespace

double LearnedEstimates::prior_speed(const Host& host) const {
  const std::size_t place = host.id.value() - 1;
  return place < priors_.speeds.size() ? priors_.speeds[place] : host.speed;
}

SteadyEstimates::Link LearnedEstimates::prior_link(const World& world, SiteId site) const {
  if (site.value() < priors_.links.size()) return priors_.links[site.value()];
  const Way* way = world.map != nullptr ? world.map->way(kHome, site) : nullptr;
  if (way == nullptr) return {.latency = 0, .bandwidth = kInfinite};
  return {way->latency, way->bandwidth};
}

SteadyEstimates LearnedEstimates::estimates(const World& world, std::span<const Host* const> slots,
                                            std::span<const SiteId> sites) const {
  const forecast::GridForecast none;
  const forecast::GridForecast& seen = world.seen != nullptr ? *world.seen : none;

  // Where nothing has run yet, tasks are as much slower than believed as where something has.
  double seen_time = 0;
  double believed_time = 0;
  for (const Host* host : slots) {
    const auto pace = seen.pace(host->id);
    if (!pace || prior_speed(*host) <= 0) continue;
    seen_time += *pace;
    believed_time += 1 / prior_speed(*host);
  }
  double slower = believed_time > 0 ? seen_time / believed_time : 1;
  // An earlier run may have told.
  const auto known = world.run_times.expected(1);
  if (believed_time <= 0 && known && *known > Duration{0}) slower = seconds(*known);

  SteadyEstimates estimates;
  std::map<HostId, double> least;
  if (believed_time > 0 || known) least = least_paces(world, seen);
  for (const Host* host : slots) {
    const auto pace = seen.pace(host->id);
    double speed = pace ? 1 / *pace : prior_speed(*host) / slower;
    if (const auto late = least.find(host->id); late != least.end())
      speed = std::min(speed, 1 / late->second);
    estimates.speeds.push_back(speed);
    estimates.launches.push_back(seen.launch(host->site).value_or(0));
  }
  for (const SiteId site : sites) {
    auto link = prior_link(world, site);
    if (const auto bandwidth = seen.bandwidth(site))
      link = {seen.round_trip(site).value_or(0), *bandwidth};
    else
      link.bandwidth = seen.possible_bandwidth(site, link.bandwidth);
    estimates.links.push_back(link);
  }
  return estimates;
}

std::unique_ptr<Estimates> LearnedEstimates::at(const World& world,
                                                std::span<const Host* const> slots,
                                                std::span<const SiteId> sites) const {
  return std::make_unique<SteadyEstimates>(estimates(world, slots, sites));
}

Beliefs LearnedEstimates::beliefs(const World& world) const {
  std::vector<const Host*> hosts;
  std::vector<SiteId> sites;
  for (const HostLoad& load : world.hosts) {
    hosts.push_back(load.host);
    if (!world.file_bytes.empty() && load.host->site != kHome) sites.push_back(load.host->site);
  }
  std::ranges::sort(sites);
  sites.erase(std::unique(sites.begin(), sites.end()), sites.end());
  const SteadyEstimates now = estimates(world, hosts, sites);
  Beliefs beliefs;
  for (std::size_t i = 0; i < hosts.size(); ++i) beliefs.speeds[hosts[i]->id] = now.speeds[i];
  for (std::size_t i = 0; i < sites.size(); ++i)
    beliefs.bandwidths[sites[i]] = now.links[i].bandwidth;
  return beliefs;
}

}  // namespace gantry::schedule
