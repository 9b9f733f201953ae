#pragma once
/// Stand-ins for the traces of time-shared hosts and wide-area links that the papers measured:
/// availabilities and bandwidths over four days, each trace with a mean, a spread and a memory of
/// its own. docs/simulation.md has the ranges and where they come from. Pure functions.

#include "simulate/kernel_world.hpp"

namespace gantry::simulate {

/// The availability of one host.
[[nodiscard]] Trace loaded_cpu(Random& random);

/// A link with this mean bandwidth, in bytes a second.
[[nodiscard]] LinkSpec wide_area_link(Random& random, double mean_bandwidth);

}  // namespace gantry::simulate
