#include "schedule/learned_estimates.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "forecast/grid_forecast.hpp"

namespace gantry::schedule {

double LearnedEstimates::prior_speed(const Host& host) const {
  const std::size_t place = host.id.value() - 1;
  return place < priors_.speeds.size() ? priors_.speeds[place] : host.speed;
}

SteadyEstimates::Link LearnedEstimates::prior_link(const World& world, SiteId site) const {
  if (site.value() < priors_.links.size()) return priors_.links[site.value()];
  const Way* way = world.map != nullptr ? world.map->way(kHome, site) : nullptr;
  if (way == nullptr) return {.latency = 0, .bandwidth = kNever};
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
  for (const Host* host : slots) {
    const auto pace = seen.pace(host->id);
    estimates.speeds.push_back(pace ? 1 / *pace : prior_speed(*host) / slower);
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
