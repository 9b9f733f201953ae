#pragma once
/// The words of `gantry forecast`, for given facts. Pure.

#include <string>
#include <vector>

#include "cli/terminal/table.hpp"
#include "store/live_state.hpp"

namespace gantry::cli {

/// `goes_on`: the run is driven now, and has an end to come.
[[nodiscard]] std::vector<std::string> forecast_lines(const store::LiveState& state, bool goes_on,
                                                      TimePoint now, const TableStyle& style);

}  // namespace gantry::cli
