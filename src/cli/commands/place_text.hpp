#pragma once
/// Where a task is now, or what it waits for, in words. Pure.

#include <string>
#include <vector>

#include "query/task_place.hpp"

namespace gantry::cli {

/// One fact a line, not wrapped.
std::vector<std::string> place_lines(const query::TaskPlace& place);

}  // namespace gantry::cli
