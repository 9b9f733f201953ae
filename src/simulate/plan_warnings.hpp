#pragma once
/// What a person should know before believing a plan: it gives each task one slot, whatever cores
/// and memory the task asks for.

#include <string>
#include <vector>

#include "model/grid.hpp"
#include "simulate/planned_tasks.hpp"

namespace gantry::simulate {

/// One line each; none when the plan leaves out nothing that matters.
[[nodiscard]] std::vector<std::string> plan_warnings(const Grid& grid, const PlannedTasks& study);

}  // namespace gantry::simulate
