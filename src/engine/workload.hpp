#pragma once
/// What the engine knows of the tasks: how many, what they need, and how failed ones are tried
/// again. It makes the engine independent of how tasks are described. A value; its functions refer
/// to what it was made from.

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "model/host.hpp"
#include "model/ids.hpp"
#include "model/sweep.hpp"
#include "model/task.hpp"

namespace gantry::engine {

struct Workload {
  std::uint32_t count = 0;                          ///< tasks 1 .. count
  std::function<Resources(TaskId)> resources = {};  ///< empty = one core each
  std::function<double(TaskId)> cost = {};          ///< relative; empty = all the same
  RetryPolicy retry = {};

  [[nodiscard]] Resources resources_of(TaskId task) const {
    return resources ? resources(task) : Resources{};
  }
  [[nodiscard]] double cost_of(TaskId task) const { return cost ? cost(task) : 1.0; }
};

/// `sweep` must outlive the workload.
[[nodiscard]] Workload workload_of(const Sweep& sweep);

/// Why no host can ever run a task with these resources: "task 3 needs 64 cores, the largest host
/// has 2"; empty when one can.
[[nodiscard]] std::string unplaceable(TaskId task, const Resources& resources,
                                      std::span<const Host> hosts);

}  // namespace gantry::engine
