#pragma once
/// The tasks of a simulated run and the files they read. A plain value.

#include <vector>

#include "engine/run/workload.hpp"

namespace gantry::simulate {

struct SimulatedTasks {
  struct Task {
    double cost = 1;              ///< seconds on an unloaded host of speed 1
    std::vector<FileId> files{};  ///< shared inputs, ascending
    double private_bytes = 0;     ///< inputs of its own
    double output_bytes = 0;      ///< which come home
    friend bool operator==(const Task&, const Task&) = default;
  };
  std::vector<double> file_bytes;  ///< of the shared files, by id
  std::vector<Task> tasks;         ///< task 1 first
  friend bool operator==(const SimulatedTasks&, const SimulatedTasks&) = default;
};

/// `application` must outlive the workload.
[[nodiscard]] engine::Workload workload_of(const SimulatedTasks& application);

}  // namespace gantry::simulate
