#include <utility>

#include "schedule/learned_estimates.hpp"
#include "simulate/simulation.hpp"
#include "simulate/trace_oracle.hpp"
#include "simulate/virtual_time.hpp"

namespace gantry::simulate {

namespace {

using schedule::Seconds;
using Link = schedule::SteadyEstimates::Link;

/// A planner's numbers and its moment 0, in front of estimates for the whole grid since its start.
class Seen final : public schedule::Estimates {
 public:
  Seen(const TraceEstimates& all, double now, std::vector<std::uint32_t> hosts,
       std::vector<std::uint32_t> sites)
      : all_(all), now_(now), hosts_(std::move(hosts)), sites_(std::move(sites)) {}

  [[nodiscard]] Seconds computed(std::uint32_t host, Seconds from, double work) const override {
    return std::max(all_.computed(hosts_[host], now_ + from, work) - now_,
                    from + work / fastest(host));
  }
  void computed_each(std::uint32_t host, Seconds from, std::span<const double> works,
                     std::span<Seconds> ends) const override {
    all_.computed_each(hosts_[host], now_ + from, works, ends);
    const double now = now_;
    const double top = fastest(host);
    for (std::size_t i = 0; i < works.size(); ++i)
      ends[i] = std::max(ends[i] - now, from + works[i] / top);
  }
  [[nodiscard]] Seconds moved(std::uint32_t site, Seconds from, double bytes,
                              bool outbound) const override {
    return std::max(all_.moved(sites_[site], now_ + from, bytes, outbound) - now_, from);
  }
  void moved_each(std::uint32_t site, std::span<const Seconds> starts, double bytes, bool outbound,
                  std::span<Seconds> arrivals) const override {
    starts_.assign(starts.begin(), starts.end());
    for (Seconds& start : starts_) start = now_ + start;
    all_.moved_each(sites_[site], starts_, bytes, outbound, arrivals);
    const double now = now_;
    for (std::size_t i = 0; i < starts.size(); ++i)
      arrivals[i] = std::max(arrivals[i] - now, starts[i]);
  }
  [[nodiscard]] double fastest(std::uint32_t host) const override {
    return all_.fastest(hosts_[host]);
  }

 private:
  const TraceEstimates& all_;
  double now_;
  std::vector<std::uint32_t> hosts_;  ///< of slots, in the grid
  std::vector<std::uint32_t> sites_;
  mutable std::vector<Seconds> starts_;  ///< kept for its memory alone
};

TraceGrid trace_grid(const VirtualGrid& grid) {
  TraceGrid traces;
  for (const VirtualHost& host : grid.hosts) traces.slots.push_back(host.spec);
  for (const auto& link : grid.links) traces.sites.push_back({link, link});
  return traces;
}

class ExactEstimates final : public schedule::EstimateSource {
 public:
  explicit ExactEstimates(const VirtualGrid& grid) : all_(trace_grid(grid)) {}

  [[nodiscard]] std::unique_ptr<schedule::Estimates> at(
      const schedule::World& world, std::span<const Host* const> slots,
      std::span<const SiteId> sites) const override {
    std::vector<std::uint32_t> host_numbers;
    host_numbers.reserve(slots.size());
    for (const Host* host : slots) host_numbers.push_back(host->id.value() - 1);
    std::vector<std::uint32_t> site_numbers;
    site_numbers.reserve(sites.size());
    for (const SiteId site : sites) site_numbers.push_back(site.value());
    return std::make_unique<Seen>(all_, seconds_at(world.now), std::move(host_numbers),
                                  std::move(site_numbers));
  }

 private:
  TraceEstimates all_;
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
    priors.links.push_back(link ? Link{link->latency, link->bandwidth.value(0)}
                                : Link{.latency = 0, .bandwidth = schedule::kNever});
  return std::make_shared<schedule::LearnedEstimates>(std::move(priors));
}

}  // namespace gantry::simulate
