#include "schedule/site_hosts.hpp"

#include <bit>
#include <tuple>

namespace gantry::schedule {

void BestEnds::offer(std::span<const Seconds> ends, std::uint32_t rank) {
  const auto end_of = [&](std::size_t i) { return ends[i]; };
  if (second_.ends.empty()) {
    any_block(end_of, [&](std::size_t i) {
      if (first_.admits(i, ends[i], rank)) first_.set(i, ends[i], rank);
      return false;
    });
    return;
  }
  any_block(end_of, [&](std::size_t i) {
    if (!second_.admits(i, ends[i], rank)) return false;
    if (first_.admits(i, ends[i], rank)) {
      second_.set(i, first_.ends[i], first_.ranks[i]);
      first_.set(i, ends[i], rank);
    } else if (rank != first_.ranks[i]) {
      second_.set(i, ends[i], rank);
    }
    return false;
  });
}

SiteHosts::SiteHosts(std::vector<Host> hosts) : hosts_(std::move(hosts)) {
  std::ranges::sort(hosts_, [](const Host& a, const Host& b) {
    return std::tie(b.fastest, a.rank) < std::tie(a.fastest, b.rank);
  });
  leaves_ = std::bit_ceil(std::max<std::size_t>(hosts_.size(), 1));
  nodes_.resize(2 * leaves_);
  for (std::size_t i = 0; i < hosts_.size(); ++i)
    nodes_[leaves_ + i] = {hosts_[i].free, hosts_[i].fastest, hosts_[i].rank};
  for (std::size_t node = leaves_ - 1; node > 0; --node) {
    const Node& left = nodes_[2 * node];
    const Node& right = nodes_[2 * node + 1];
    nodes_[node] = {std::min(left.free, right.free), left.fastest, std::min(left.rank, right.rank)};
  }
}

void SiteHosts::set_free(std::size_t host, Seconds free) {
  hosts_[host].free = free;
  std::size_t node = leaves_ + host;
  nodes_[node].free = free;
  while (node /= 2) nodes_[node].free = std::min(nodes_[2 * node].free, nodes_[2 * node + 1].free);
}

}  // namespace gantry::schedule
