#include "simulate/experiment_points.hpp"

#include <algorithm>
#include <utility>

namespace gantry::simulate {

std::vector<ExperimentPoint> experiment_points(const Experiment& experiment,
                                               std::vector<TrialOutcome> trials) {
  // They ended in any order; what is said of them must not depend on it.
  std::ranges::sort(trials, {}, [](const TrialOutcome& trial) {
    return std::pair(trial.point, trial.repetition);
  });
  std::vector<ExperimentPoint> points;
  for (const std::string& label : experiment.points)
    points.push_back({.label = label, .table = {.schedulers = experiment.schedulers}});
  for (TrialOutcome& trial : trials) {
    if (trial.repetition >= experiment.repetitions) continue;
    ExperimentTable& table = points[trial.point].table;
    table.makespans.push_back(std::move(trial.makespans));
    table.bounds.push_back(trial.data_bound);
  }
  return points;
}

std::vector<Measure> mean_makespans(const ExperimentTable& table) {
  std::vector<Measure> means;
  for (std::size_t i = 0; i < table.schedulers.size(); ++i) {
    std::vector<double> makespans;
    for (const auto& of_case : table.makespans) makespans.push_back(of_case[i]);
    means.push_back(mean_of_runs(makespans));
  }
  return means;
}

}  // namespace gantry::simulate
