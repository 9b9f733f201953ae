#pragma once
/// The grid that a person described, as the simulator sees it: every host by itself, traces read
/// from their files, batch queues as the times at which hosts are not there. Complaints point at
/// the grid file or at the trace.

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "model/grid.hpp"
#include "simulate/simulated_tasks.hpp"
#include "simulate/simulation.hpp"

namespace gantry::simulate {

/// More would not be simulated in a person's time.
inline constexpr std::size_t kMaxWorldSlots = 100'000;

struct GridWorld {
  VirtualGrid grid;
  std::vector<std::string> site_names;  ///< home first
  std::vector<std::string> host_names;
};

/// Reads the traces. A site without a link of its own to home gets one that is as narrow as the
/// narrowest link on its way there, and as slow as all of them, and that it has for itself.
/// REQUIRES: links make a way from home to every site, as load_grid() checks.
Result<GridWorld> grid_world(const Grid& grid);

/// Of shared files with these absolute paths, those that sites are said to have already, themselves
/// or in a folder.
std::vector<std::pair<FileId, SiteId>> staged_files(const Grid& grid,
                                                    const std::vector<std::string>& file_paths);

/// Fails when the shared files of a task fit into no depot of a site with hosts.
Result<> check_depots(const Grid& grid, const SimulatedTasks& application,
                      const std::vector<std::string>& file_names);

}  // namespace gantry::simulate
