#include "simulate/trace_oracle.hpp"

#include <algorithm>

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

TraceEstimates::TraceEstimates(TraceGrid grid) : grid_(std::move(grid)) {
  for (const HostSpec& slot : grid_.slots)
    fastest_.push_back(slot.speed * slot.availability.largest() * kRounding);
}

Seconds TraceEstimates::computed(std::uint32_t host, Seconds from, double work) const {
  const HostSpec& slot = grid_.slots[host];
  const double end = slot.availability.when_done(grid_.now + from, work / slot.speed) - grid_.now;
  return std::max(end, from + work / fastest_[host]);
}

void TraceEstimates::computed_each(std::uint32_t host, Seconds from, std::span<const double> works,
                                   std::span<Seconds> ends) const {
  const HostSpec& slot = grid_.slots[host];
  // Copies, so that compilers see that nothing changes them.
  const double now = grid_.now;
  const double speed = slot.speed;
  const double top = fastest_[host];
  for (std::size_t i = 0; i < works.size(); ++i) ends[i] = works[i] / speed;
  slot.availability.when_done_each(now + from, ends);
  for (std::size_t i = 0; i < works.size(); ++i)
    ends[i] = std::max(ends[i] - now, from + works[i] / top);
}

Seconds TraceEstimates::moved(std::uint32_t site, Seconds from, double bytes, bool outbound) const {
  const auto& over = link(grid_, site, outbound);
  if (!over) return from;
  const Seconds first_byte = from + over->latency;
  return std::max(first_byte, over->bandwidth.when_done(grid_.now + first_byte, bytes) - grid_.now);
}

void TraceEstimates::moved_each(std::uint32_t site, std::span<const Seconds> starts, double bytes,
                                bool outbound, std::span<Seconds> arrivals) const {
  const auto& over = link(grid_, site, outbound);
  if (!over) {
    std::ranges::copy(starts, arrivals.begin());
    return;
  }
  const double now = grid_.now;
  const double latency = over->latency;
  for (std::size_t i = 0; i < starts.size(); ++i) arrivals[i] = now + (starts[i] + latency);
  over->bandwidth.when_done_from_each(arrivals, bytes);
  for (std::size_t i = 0; i < starts.size(); ++i)
    arrivals[i] = std::max(starts[i] + latency, arrivals[i] - now);
}

double TraceCapacities::work(std::uint32_t host, Seconds from, Seconds until) const {
  const HostSpec& slot = grid_.slots[host];
  return slot.speed * slot.availability.integral(grid_.now + from, grid_.now + until);
}

double TraceCapacities::bytes(std::uint32_t site, Seconds from, Seconds until,
                              bool outbound) const {
  const auto& over = link(grid_, site, outbound);
  if (!over) return schedule::kNever;
  const auto carries = [&](const LinkSpec& its) {
    const Seconds first_byte = from + its.latency;
    if (first_byte >= until) return 0.0;
    const double one = its.bandwidth.integral(grid_.now + first_byte, grid_.now + until);
    return its.sharing == LinkSharing::fifo ? one * its.streams : one;
  };
  double bytes = carries(*over);
  if (!outbound)
    for (const LinkSpec& peer : grid_.sites[site].peers) bytes += carries(peer);
  return bytes;
}

}  // namespace gantry::simulate
