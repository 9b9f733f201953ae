#pragma once
/// What is known from run times that were seen on hosts, for a cost of 1. A plain value.

#include <optional>
#include <span>
#include <vector>

#include "forecast/host_paces.hpp"
#include "forecast/open_run.hpp"
#include "forecast/time_book.hpp"

namespace gantry::forecast {

struct LikelyTimes {
  std::vector<HostPace> paces{};  ///< of hosts, as loaded as they are now
  std::vector<double> seen{};     ///< as if on a usual host of speed 1
  double mean = 0;                ///< of those
};

/// Nothing when nothing was seen.
[[nodiscard]] std::optional<LikelyTimes> likely_times(const TimeBook& times,
                                                      std::span<const OpenHost> hosts);

}  // namespace gantry::forecast
