#pragma once
/// What `gantry grid` shows: tables that fit a terminal, or JSON. One thread.

#include <vector>

#include "cli/context.hpp"
#include "model/grid.hpp"
#include "operate/grid_findings.hpp"

namespace gantry::cli {

void print_grid(Context& context, const Grid& grid);
void print_grid_json(Context& context, const Grid& grid);

/// True when nothing is wrong.
bool print_check(Context& context, const Grid& grid, const std::vector<operate::SiteCheck>& checks);
bool print_check_json(Context& context, const Grid& grid,
                      const std::vector<operate::SiteCheck>& checks);

}  // namespace gantry::cli
