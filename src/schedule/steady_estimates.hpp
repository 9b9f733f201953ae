#pragma once
/// Estimates for a world that stays as it is: every host has one speed, every site's link one
/// latency and bandwidth, and tasks cost something besides their run time, or nothing. A plain
/// value.

#include <algorithm>
#include <utility>

#include "schedule/planning.hpp"

namespace gantry::schedule {

class SteadyEstimates final : public Estimates {
 public:
  struct Link {
    double latency = 0;    ///< seconds before the first byte is there
    double bandwidth = 1;  ///< bytes a second; 0 = nothing gets through
  };

  /// Of the hosts and sites with these indices. A speed of 0 never ends anything.
  std::vector<double> speeds;
  std::vector<Link> links;
  std::vector<Seconds> launches{};  ///< of a task on the host, besides its work; empty: no time

  SteadyEstimates() = default;
  SteadyEstimates(std::vector<double> host_speeds, std::vector<Link> site_links)
      : speeds(std::move(host_speeds)), links(std::move(site_links)) {}

  [[nodiscard]] Seconds computed(std::uint32_t host, Seconds from, double work) const override {
    return speeds[host] > 0 ? from + launch(host) + work / speeds[host] : kInfinite;
  }
  [[nodiscard]] Seconds moved(std::uint32_t site, Seconds from, double bytes,
                              bool /*outbound*/) const override {
    const Link& link = links[site];
    return link.bandwidth > 0 ? from + link.latency + bytes / link.bandwidth : kInfinite;
  }
  void computed_each(std::uint32_t host, Seconds from, std::span<const double> works,
                     std::span<Seconds> ends) const override {
    const double speed = speeds[host];
    if (speed <= 0)
      std::ranges::fill(ends, kInfinite);
    else
      for (std::size_t i = 0; i < works.size(); ++i)
        ends[i] = from + launch(host) + works[i] / speed;
  }
  [[nodiscard]] double fastest(std::uint32_t host) const override { return speeds[host]; }

 private:
  [[nodiscard]] Seconds launch(std::uint32_t host) const {
    return launches.empty() ? 0 : launches[host];
  }
};

}  // namespace gantry::schedule
