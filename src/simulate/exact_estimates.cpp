#include <utility>

#include "schedule/learned_estimates.hpp"
#include "simulate/simulation.hpp"
#include "simulate/trace_oracle.hpp"
#include "simulate/virtual_time.hpp"

namespace gantry::simulate {

namespace {

using SteadyLink = schedule::SteadyEstimates::Link;

TraceGrid trace_grid(const VirtualGrid& grid) {
  TraceGrid traces;
  for (const VirtualHost& host : grid.hosts) traces.slots.push_back(host.spec);
  for (const auto& link : grid.links) traces.sites.push_back({link, link});
  return traces;
}

class ExactEstimates final : public schedule::EstimateSource {
 public:
  explicit ExactEstimates(const VirtualGrid& grid) : traces_(trace_grid(grid)) {}

  [[nodiscard]] std::unique_ptr<schedule::Estimates> at(
      const schedule::World& world, std::span<const Host* const> slots,
      std::span<const SiteId> sites) const override {
    std::vector<std::uint32_t> host_numbers;
    host_numbers.reserve(slots.size());
    for (const Host* host : slots) host_numbers.push_back(host->id.value() - 1);
    std::vector<std::uint32_t> site_numbers;
    site_numbers.reserve(sites.size());
    for (const SiteId site : sites) site_numbers.push_back(site.value());
    return std::make_unique<TraceEstimates>(traces_, seconds_at(world.now), std::move(host_numbers),
                                            std::move(site_numbers));
  }

 private:
  TraceGrid traces_;
};

}  // namespace

std::shared_ptr<const schedule::EstimateSource> exact_estimates(const VirtualGrid& grid) {
  return std::make_shared<ExactEstimates>(grid);
}

std::shared_ptr<const schedule::EstimateSource> learned_estimates(const VirtualGrid& grid) {
  schedule::GridPriors priors;
  for (const VirtualHost& host : grid.hosts)
    priors.speeds.push_back(host.spec.speed * host.spec.availability.value(0));
  for (const auto& link : grid.links)
    priors.links.push_back(link ? SteadyLink{link->latency, link->bandwidth.value(0)}
                                : SteadyLink{.latency = 0, .bandwidth = schedule::kInfinite});
  return std::make_shared<schedule::LearnedEstimates>(std::move(priors));
}

}  // namespace gantry::simulate
