#pragma once
/// The tasks of a study for the simulator: what they cost, and which files they read,
/// with the sizes that these have on disk now.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "model/application.hpp"
#include "simulate/simulated_tasks.hpp"

namespace gantry::simulate {

/// More would not be simulated in a person's time.
inline constexpr std::uint32_t kMaxPlannedTasks = 1'000'000;

/// More different costs are rounded to steps of 5%.
inline constexpr std::size_t kMaxDifferentCosts = 1000;

struct PlannedTasks {
  /// Cores and memory that tasks ask for.
  struct Needs {
    Resources resources;
    TaskId first;  ///< of the tasks that ask for as much
  };

  SimulatedTasks tasks;
  std::vector<std::string> file_names;  ///< of the shared files
  std::vector<std::string> file_paths;  ///< the same, absolute
  std::vector<Needs> needs;             ///< the different ones, by their first task
  bool rounded = false;                 ///< costs are right to 2.5% only
};

/// Inputs that several tasks read are shared files (model/sweep_files.hpp), the others the task's
/// own. Outputs have no size. Costs are seconds on a host of speed 1; when there are many different
/// ones they are rounded, as planners work on classes of tasks that are alike. `cost_of`: what
/// tasks cost, where the application does not say.
Result<PlannedTasks> planned_tasks_of(const Application& application,
                                      const std::function<double(TaskId)>& cost_of = {});

}  // namespace gantry::simulate
