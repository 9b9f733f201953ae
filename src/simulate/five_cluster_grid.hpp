#pragma once
/// The grid of five clusters and the applications of Casanova, Legrand, Zagorodnov and Berman,
/// "Heuristics for Scheduling Parameter Sweep Applications in Grid Environments" (HCW 2000),
/// sections 4.3.2 (Figure 5) and 5.2 (Figure 6). docs/simulation.md says what the paper leaves
/// open. Pure functions.

#include <cstdint>

#include "simulate/simulated_tasks.hpp"
#include "simulate/simulation.hpp"

namespace gantry::simulate {

struct FiveClusterOptions {
  double host_speed = 2.3;  ///< of the paper's base CPU
  double bandwidth_scale = 1;
  std::uint64_t seed = 0;  ///< of the traces
};

/// Clusters of 6, 6, 8, 20 and 20 hosts.
[[nodiscard]] VirtualGrid five_cluster_grid(const FiveClusterOptions& options = {});

/// Figure 5: 1,600 equal tasks of 200 s, 200 for each of eight shared files of this size.
[[nodiscard]] SimulatedTasks file_size_application(double file_bytes);

/// Figure 6: 800 equal tasks, 100 for each of eight shared files of 40 MB.
[[nodiscard]] SimulatedTasks information_application();

}  // namespace gantry::simulate
