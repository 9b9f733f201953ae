#pragma once
/// What the event kernel's world is made of, as its driver names and describes it. Plain values.

#include <cstdint>
#include <vector>

#include "base/strong_id.hpp"
#include "model/grid.hpp"
#include "simulate/trace.hpp"

namespace gantry::simulate {

/// Given by the driver with each activity, and back to it with the event.
using Token = StrongId<struct TokenTag, std::uint64_t>;
/// Given by the kernel: one activity, never used again.
using ActivityId = StrongId<struct ActivityTag, std::uint64_t>;
/// In the order in which they were added, from 0.
using HostIndex = StrongId<struct HostIndexTag, std::uint32_t>;
using LinkIndex = StrongId<struct LinkIndexTag, std::uint32_t>;

/// Down from one moment until another; kForever = for good.
struct Outage {
  double from = 0;
  double until = kForever;
};

struct HostSpec {
  double speed = 1;               ///< work is divided by it
  Trace availability = Trace(1);  ///< the part of its speed that it has for us
  std::uint32_t slots = 1;        ///< each as fast as the host
  std::vector<Outage> outages = {};
};

struct LinkSpec {
  Trace bandwidth = Trace(1);  ///< bytes a second
  double latency = 0;  ///< seconds before a transfer's first byte; takes a stream, but no bandwidth
  LinkSharing sharing = LinkSharing::fifo;
  std::uint32_t streams = 1;  ///< of a fifo link: transfers at once, each with the full bandwidth
  std::vector<Outage> outages = {};
};

}  // namespace gantry::simulate
