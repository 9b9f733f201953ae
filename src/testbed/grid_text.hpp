#pragma once
/// The grid file (docs/formats/grid.md) of a testbed, so that `gantry run --grid` finds its sites.

#include <string>

#include "testbed/testbed_files.hpp"
#include "testbed/testbed_plan.hpp"

namespace gantry::testbed {

std::string grid_text(const TestbedPlan& plan, const TestbedFiles& files);

}  // namespace gantry::testbed
