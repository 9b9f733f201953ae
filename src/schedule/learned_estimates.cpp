#include "schedule/learned_estimates.hpp"

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

std::unique_ptr<Estimates> LearnedEstimates::at(const World& world,
                                                std::span<const Host* const> slots,
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
  const double slower = believed_time > 0 ? seen_time / believed_time : 1;

  auto estimates = std::make_unique<SteadyEstimates>();
  for (const Host* host : slots) {
    const auto pace = seen.pace(host->id);
    estimates->speeds.push_back(pace ? 1 / *pace : prior_speed(*host) / slower);
  }
  for (const SiteId site : sites) {
    auto link = prior_link(world, site);
    if (const auto bandwidth = seen.bandwidth(site)) link = {0, *bandwidth};
    estimates->links.push_back(link);
  }
  return estimates;
}

}  // namespace gantry::schedule
