#pragma once
/// Parts of small grids for tests.

#include <utility>
#include <vector>

#include "simulate/simulation.hpp"

namespace gantry::simulate {

inline VirtualHost host(SiteId site, double speed = 1, std::vector<Outage> outages = {}) {
  return {{.speed = speed, .outages = std::move(outages)}, site};
}

/// With this bandwidth at all times.
inline LinkSpec link(double bandwidth) {
  return {.bandwidth = Trace(bandwidth)};
}

}  // namespace gantry::simulate
