#pragma once
/// The lines of `gantry top`: what sites, hosts and links of a run do now. Pure.

#include <cstddef>
#include <string>
#include <vector>

#include "base/time.hpp"
#include "cli/terminal/table.hpp"
#include "store/live_state.hpp"

namespace gantry::cli {

/// At most `style.columns - 1` wide (a full line would wrap on some terminals); 0 = as wide as it
/// gets.
std::vector<std::string> top_lines(const store::LiveState& state, TimePoint now,
                                   const TableStyle& style);

/// The lines that fit a window of `rows` rows; the last one counts those that do not.
std::vector<std::string> fit_rows(std::vector<std::string> lines, std::size_t rows);

/// "12s", "5m03s", "2h04m": how long ago, with few columns.
std::string age_text(Duration age);
/// "940K", "12M", "64G": with few columns.
std::string short_bytes(std::uint64_t bytes);

}  // namespace gantry::cli
