#pragma once
/// A doctor for grids: connects to all hosts at once, measures, and says what is wrong and what to
/// do about it. Of clusters it sees the login host and the batch system. Threads of its own, which
/// end with it.

#include <optional>
#include <string>
#include <vector>

#include "actuate/check/host_probe.hpp"
#include "actuate/check/link_gauge.hpp"
#include "model/grid.hpp"
#include "operate/grid_findings.hpp"

namespace gantry::operate {

struct GridCheckOptions {
  /// For each step of a host: to log in, to answer.
  Duration patience = std::chrono::seconds(15);
};

/// Sites that are really reached and are among `names`; all of them when it is empty.
Result<std::vector<SiteCheck>> check_grid(const Grid& grid, const std::vector<std::string>& names,
                                          const GridCheckOptions& options);

}  // namespace gantry::operate
