#include "engine/run/workload.hpp"

namespace gantry::engine {

Workload workload_of(const Sweep& sweep) {
  Workload workload{.count = sweep.size(), .retry = sweep.retry_policy()};
  workload.resources = [&sweep](TaskId task) { return sweep.resources(task); };
  workload.learns_memory = sweep.learns_memory();
  if (sweep.has_cost()) workload.cost = [&sweep](TaskId task) { return sweep.cost(task); };
  workload.features = [&sweep](TaskId task) {
    forecast::Features features;
    for (const auto& [name, value] : sweep.parameters(task))
      features.push_back(forecast::feature_of(value));
    return features;
  };
  return workload;
}

Workload workload_of(const Sweep& sweep, const TaskFiles& files) {
  Workload workload = workload_of(sweep);
  if (files.empty()) return workload;
  workload.files = [&files](TaskId task) { return files.shared_by(task); };
  workload.private_bytes = [&files](TaskId task) { return files.private_bytes(task); };
  return workload;
}

}  // namespace gantry::engine
