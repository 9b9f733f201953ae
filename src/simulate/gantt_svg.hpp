#pragma once
/// The picture of a simulated run: which host did what when, and which files were on their way,
/// coloured by the shared file that tasks read. Self-contained text, no scripts; names may hold
/// anything. Pure functions.

#include <string>
#include <vector>

#include "engine/run/workload.hpp"
#include "simulate/simulation.hpp"

namespace gantry::simulate {

/// What things are called. Those that have no name here get one with their number.
struct GanttNames {
  std::string title = "Simulated run";
  std::vector<std::string> sites{};  ///< home first
  std::vector<std::string> hosts{};  ///< in the order of the grid
  std::vector<std::string> files{};
};

[[nodiscard]] std::string gantt_svg(const Simulated& run, const VirtualGrid& grid,
                                    const engine::Workload& workload, const GanttNames& names = {});

/// A page with the picture.
[[nodiscard]] std::string gantt_html(const Simulated& run, const VirtualGrid& grid,
                                     const engine::Workload& workload,
                                     const GanttNames& names = {});

}  // namespace gantry::simulate
