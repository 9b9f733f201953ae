#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "engine/run/workload.hpp"

namespace gantry::engine {

namespace {

forecast::Features features_of(const Sweep& sweep, TaskId task) {
  forecast::Features features;
  for (const auto& [name, value] : sweep.parameters(task))
    features.push_back(forecast::feature_of(value));
  return features;
}

/// Of a task of several nodes: the same number for each task, whatever parameters its node has.
forecast::Features features_of(const Application& application, TaskId task,
                               const std::vector<std::string>& names) {
  forecast::Features features{application.nodes()[application.node_of(task).value()].name};
  features.resize(1 + names.size(), 0.0);
  for (const auto& [name, value] : application.parameters(task)) {
    const auto index = std::ranges::find(names, name) - names.begin();
    features[1 + static_cast<std::size_t>(index)] = forecast::feature_of(value);
  }
  return features;
}

}  // namespace

Workload workload_of(const Application& application) {
  const Sweep& first = application.nodes().front().sweep;
  Workload workload{.count = application.size(), .retry = first.retry_policy()};
  workload.resources = [&application](TaskId task) { return application.at(task).resources(task); };
  workload.learns_memory = application.learns_memory();
  if (application.has_cost())
    workload.cost = [&application](TaskId task) { return application.at(task).cost(task); };
  if (application.nodes().size() == 1) {
    workload.features = [&application](TaskId task) {
      return features_of(application.at(task), task);
    };
  } else {
    workload.retries = [&application](TaskId task) { return application.at(task).retry_policy(); };
    workload.features = [&application, names = application.parameter_names()](TaskId task) {
      return features_of(application, task, names);
    };
  }
  return workload;
}

Workload workload_of(const Application& application, const TaskFiles& files) {
  Workload workload = workload_of(application);
  if (files.empty()) return workload;
  workload.files = [&files](TaskId task) { return files.shared_by(task); };
  workload.private_bytes = [&files](TaskId task) { return files.private_bytes(task); };
  return workload;
}

}  // namespace gantry::engine
