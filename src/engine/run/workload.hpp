#pragma once
/// What the engine knows about a run's tasks: how many there are, what they need, and how failed
/// ones are retried. Keeps the engine independent of how tasks are described. A value; its
/// functions refer to the objects it was made from.

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "forecast/learned_memory.hpp"
#include "forecast/learned_outputs.hpp"
#include "forecast/run_time_model.hpp"
#include "model/application.hpp"
#include "model/host.hpp"
#include "model/ids.hpp"
#include "model/sweep_files.hpp"
#include "model/task.hpp"

namespace gantry::engine {

struct Workload {
  std::uint32_t count = 0;  ///< tasks 1 .. count exist from the start; TasksAdded brings more
  std::function<Resources(TaskId)> resources = {};  ///< empty = one core each
  /// The memory of tasks whose resources say so is learnt. REQUIRES: features.
  bool learns_memory = false;
  std::function<double(TaskId)> cost = {};  ///< relative; empty = all the same
  RetryPolicy retry = {};
  std::function<RetryPolicy(TaskId)> retries = {};  ///< empty = `retry` for all
  /// Sizes of files 0, 1 …, which are at home from the start. If several runs share files, FileMade
  /// announces them instead.
  std::vector<double> file_bytes = {};
  std::function<std::vector<FileId>(TaskId)> files =
      {};                                            ///< shared inputs, ascending; empty = none
  std::function<double(TaskId)> private_bytes = {};  ///< empty = none
  /// Empty = not known; learnt if there are features.
  std::function<double(TaskId)> output_bytes = {};
  /// The task's parameters, the same number for each task. Run time, memory and outputs are learnt
  /// from them. Empty = they are not.
  std::function<forecast::Features(TaskId)> features = {};
  /// Run times learnt in earlier runs: seconds on a host of speed 1.
  forecast::RunTimeModel known_times = {};
  /// The same for memory, and for bytes of output.
  forecast::LearnedMemory known_memory = {};
  forecast::RunTimeModel known_outputs = {};

  [[nodiscard]] Resources resources_of(TaskId task) const {
    return resources ? resources(task) : Resources{};
  }
  [[nodiscard]] RetryPolicy retry_of(TaskId task) const { return retries ? retries(task) : retry; }
  /// The declared cost.
  [[nodiscard]] double cost_of(TaskId task) const { return cost ? cost(task) : 1.0; }
  [[nodiscard]] std::vector<FileId> files_of(TaskId task) const {
    return files ? files(task) : std::vector<FileId>{};
  }
  /// The task's needs, except that the cost is 1.
  [[nodiscard]] TaskNeeds needs_of(TaskId task) const {
    return {resources_of(task), files_of(task), 1.0, private_bytes ? private_bytes(task) : 0,
            output_bytes ? output_bytes(task) : 0};
  }
};

/// `application` must outlive the workload. With several nodes, a task's features are the name of
/// its node and the parameters of all nodes; those that it lacks are 0.
[[nodiscard]] Workload workload_of(const Application& application);
/// For tasks whose inputs travel. Both must outlive the workload.
[[nodiscard]] Workload workload_of(const Application& application, const TaskFiles& files);

/// Why no host can ever run a task with these resources: "task 3 needs 64 cores, the largest host
/// has 2". Empty if one can.
[[nodiscard]] std::string unplaceable(TaskId task, const Resources& resources,
                                      std::span<const Host> hosts);

}  // namespace gantry::engine
