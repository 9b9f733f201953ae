#include "schedule/gantt/hosts_by_site.hpp"

#include <utility>

namespace gantry::schedule {

HostsBySite::HostsBySite(const Situation& situation, const Estimates& estimates,
                         std::span<const std::uint32_t> ranks, std::span<const Seconds> free)
    : host_of_rank_(situation.hosts.size()), places_(situation.hosts.size()) {
  std::vector<std::vector<SiteHosts::Host>> hosts(situation.sites.size());
  for (std::uint32_t host = 0; host < situation.hosts.size(); ++host) {
    host_of_rank_[ranks[host]] = host;
    hosts[situation.hosts[host].site].push_back({ranks[host], estimates.fastest(host), free[host]});
  }
  sites_.reserve(hosts.size());
  for (auto& its_hosts : hosts) {
    sites_.push_back({SiteHosts(std::move(its_hosts))});
    const auto in_order = sites_.back().hosts.hosts();
    for (std::uint32_t place = 0; place < in_order.size(); ++place)
      places_[host_of_rank_[in_order[place].rank]] = place;
  }
}

void HostsBySite::assigned(std::uint32_t site, std::uint32_t host, Seconds free) {
  sites_[site].hosts.set_free(places_[host], free);
  ++sites_[site].version;
}

}  // namespace gantry::schedule
