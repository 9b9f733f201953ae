#include "schedule/learned_estimates.hpp"

#include <memory>
#include <utility>

#include "forecast/grid_forecast.hpp"

namespace gantry::schedule {

GridPriors priors_of(const SiteMap& map) {
  GridPriors priors;
  for (const Way& way : map.ways) {
    if (way.one != kHome) continue;
    const std::size_t site = way.other.value();
    if (site >= priors.links.size())
      priors.links.resize(site + 1, {.latency = 0, .bandwidth = kNever});
    priors.links[site] = {way.latency, way.bandwidth};
  }
  return priors;
}

double LearnedEstimates::prior_speed(const Host& host) const {
  const std::size_t place = host.id.value() - 1;
  return place < priors_.speeds.size() ? priors_.speeds[place] : host.speed;
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
    const bool believed = site.value() < priors_.links.size();
    auto link = believed ? priors_.links[site.value()]
                         : SteadyEstimates::Link{.latency = 0, .bandwidth = kNever};
    if (const auto bandwidth = seen.bandwidth(site)) link = {0, *bandwidth};
    estimates->links.push_back(link);
  }
  return estimates;
}

}  // namespace gantry::schedule
