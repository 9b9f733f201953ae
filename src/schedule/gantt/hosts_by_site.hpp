#pragma once
/// All hosts of a situation by site, as sched() fills them. A plain value.

#include <cstdint>
#include <span>
#include <vector>

#include "schedule/gantt/site_hosts.hpp"
#include "schedule/planning.hpp"

namespace gantry::schedule {

class HostsBySite {
 public:
  /// `free` is when each host is free, infinite if it is no candidate; `ranks` an order of all.
  HostsBySite(const Situation& situation, const Estimates& estimates,
              std::span<const std::uint32_t> ranks, std::span<const Seconds> free);

  [[nodiscard]] std::uint32_t sites() const { return static_cast<std::uint32_t>(sites_.size()); }
  [[nodiscard]] const SiteHosts& at(std::uint32_t site) const { return sites_[site].hosts; }
  [[nodiscard]] std::uint32_t with_rank(std::uint32_t rank) const { return host_of_rank_[rank]; }

  /// From 1. Counts how often anything was assigned at the site.
  [[nodiscard]] std::uint32_t version(std::uint32_t site) const { return sites_[site].version; }
  /// Something was assigned to the host, which is free again at `free`; infinite: no candidate any
  /// more.
  void assigned(std::uint32_t site, std::uint32_t host, Seconds free);

 private:
  struct Site {
    SiteHosts hosts;
    std::uint32_t version = 1;
  };

  std::vector<Site> sites_;
  std::vector<std::uint32_t> host_of_rank_;
  std::vector<std::uint32_t> places_;  ///< of each host in its site's hosts()
};

}  // namespace gantry::schedule
