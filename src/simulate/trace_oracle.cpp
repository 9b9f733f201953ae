#include "simulate/trace_oracle.hpp"

#include <algorithm>
#include <utility>

namespace gantry::simulate {

using schedule::Seconds;

namespace {

/// So much faster than the trace says, that rounding in its integrals does not contradict it.
constexpr double kRounding = 1 + 1e-9;

const std::optional<LinkSpec>& link(const TraceGrid& grid, std::uint32_t site, bool outbound) {
  const TraceGrid::Site& its = grid.sites[site];
  return outbound ? its.outbound : its.inbound;
}

}  // namespace

TraceEstimates::TraceEstimates(const TraceGrid& grid, double now, std::vector<std::uint32_t> slots,
                               std::vector<std::uint32_t> sites)
    : grid_(grid), now_(now), slots_(std::move(slots)), sites_(std::move(sites)) {
  for (std::uint32_t i = 0; i < slots_.size(); ++i)
    fastest_.push_back(slot(i).speed * slot(i).availability.largest() * kRounding);
}

Seconds TraceEstimates::computed(std::uint32_t host, Seconds from, double work) const {
  const double begin = now_ + from;
  const double least = work / fastest_[host];
  const double end = slot(host).availability.when_done(begin, work / slot(host).speed);
  return std::max(std::max(end, begin + least) - now_, from + least);
}

void TraceEstimates::computed_each(std::uint32_t host, Seconds from, std::span<const double> works,
                                   std::span<Seconds> ends) const {
  // Copies, so that compilers see that nothing changes them.
  const double now = now_;
  const double begin = now + from;
  const double speed = slot(host).speed;
  const double top = fastest_[host];
  for (std::size_t i = 0; i < works.size(); ++i) ends[i] = works[i] / speed;
  slot(host).availability.when_done_each(begin, ends);
  for (std::size_t i = 0; i < works.size(); ++i) {
    const double least = works[i] / top;
    ends[i] = std::max(std::max(ends[i], begin + least) - now, from + least);
  }
}

Seconds TraceEstimates::moved(std::uint32_t site, Seconds from, double bytes, bool outbound) const {
  const auto& over = link(grid_, sites_[site], outbound);
  if (!over) return from;
  const double first_byte = now_ + from + over->latency;
  const double end = std::max(first_byte, over->bandwidth.when_done(first_byte, bytes));
  return std::max(end - now_, from);
}

void TraceEstimates::moved_each(std::uint32_t site, std::span<const Seconds> starts, double bytes,
                                bool outbound, std::span<Seconds> arrivals) const {
  const auto& over = link(grid_, sites_[site], outbound);
  if (!over) {
    std::ranges::copy(starts, arrivals.begin());
    return;
  }
  const double now = now_;
  const double latency = over->latency;
  for (std::size_t i = 0; i < starts.size(); ++i) arrivals[i] = now + starts[i] + latency;
  over->bandwidth.when_done_from_each(arrivals, bytes);
  for (std::size_t i = 0; i < starts.size(); ++i)
    arrivals[i] = std::max(std::max(now + starts[i] + latency, arrivals[i]) - now, starts[i]);
}

double TraceCapacities::work(std::uint32_t host, Seconds from, Seconds until) const {
  const HostSpec& slot = grid_.slots[host];
  return slot.speed * slot.availability.integral(from, until);
}

double TraceCapacities::bytes(std::uint32_t site, Seconds from, Seconds until,
                              bool outbound) const {
  const auto& over = link(grid_, site, outbound);
  if (!over) return schedule::kInfinite;
  const auto carries = [&](const LinkSpec& its) {
    const Seconds first_byte = from + its.latency;
    if (first_byte >= until) return 0.0;
    const double one = its.bandwidth.integral(first_byte, until);
    return its.sharing == LinkSharing::fifo ? one * its.streams : one;
  };
  double bytes = carries(*over);
  if (!outbound)
    for (const LinkSpec& peer : grid_.sites[site].peers) bytes += carries(peer);
  return bytes;
}

}  // namespace gantry::simulate
