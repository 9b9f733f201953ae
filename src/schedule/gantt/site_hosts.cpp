#include "schedule/gantt/site_hosts.hpp"

#include <bit>
#include <tuple>

namespace gantry::schedule {

void BestEnds::reset(std::span<const double> works, double fastest, bool two) {
  // Whatever is rounded below, latest_start() is not too early.
  constexpr double kBelow = 1 - 1e-12;
  per_work_ = kBelow / fastest;
  latest_start_ = kInfinite;
  first_.reset(works.size());
  second_.reset(two ? works.size() : 0);
}

void BestEnds::find_latest_start(std::span<const double> works) {
  constexpr double kAbove = 1 + 1e-12;
  const double* limits = last().ends.data();
  Lanes latest{};
  for_lanes(works.size(), [&]<class Number>(std::size_t i, Number) {
    const Number start = load<Number>(&limits[i]) * kAbove - load<Number>(&works[i]) * per_work_;
    latest = latest < start ? Lanes{} + start : latest;
  });
  latest_start_ = latest[0];
  for (std::size_t lane = 1; lane < kLanes; ++lane)
    latest_start_ = std::max(latest_start_, latest[lane]);
}

void BestEnds::offer(std::span<const double> works, std::span<const Seconds> ends,
                     std::uint32_t rank) {
  // Plain pointers: for all that compilers know, a store could change where a vector is.
  double* const first_ends = first_.ends.data();
  double* const first_ranks = first_.ranks.data();
  double* const second_ends = second_.ends.data();
  double* const second_ranks = second_.ranks.data();
  const bool two = !second_.ends.empty();
  for_lanes(ends.size(), [&]<class Number>(std::size_t i, Number zero) {
    const Number mine = zero + rank;
    const auto end = load<Number>(&ends[i]);
    const auto first = load<Number>(&first_ends[i]);
    const auto first_rank = load<Number>(&first_ranks[i]);
    const auto is_first = (end < first) | ((end == first) & (mine < first_rank));
    store<Number>(&first_ends[i], is_first ? end : first);
    store<Number>(&first_ranks[i], is_first ? mine : first_rank);
    if (!two) return;
    const auto second = load<Number>(&second_ends[i]);
    const auto second_rank = load<Number>(&second_ranks[i]);
    const auto is_second = (end < second) | ((end == second) & (mine < second_rank));
    const Number or_mine = is_second ? end : second;
    const Number or_my_rank = is_second ? mine : second_rank;
    store<Number>(&second_ends[i], is_first ? first : or_mine);
    store<Number>(&second_ranks[i], is_first ? first_rank : or_my_rank);
  });
  find_latest_start(works);
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
