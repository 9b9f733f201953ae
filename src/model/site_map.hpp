#pragma once
/// What is declared of the sites, besides their hosts. A plain value; an empty one says that depots
/// have no limit, and that files come from home.

#include <cstddef>
#include <limits>
#include <vector>

#include "model/ids.hpp"

namespace gantry {

struct SiteMap {
  /// Bytes that the depots may hold, by site; those that are not listed have no limit. Home has
  /// none.
  std::vector<double> depots{};

  [[nodiscard]] double depot(SiteId site) const {
    const std::size_t index = site.value();
    return site == kHome || index >= depots.size() ? std::numeric_limits<double>::infinity()
                                                   : depots[index];
  }
};

}  // namespace gantry
