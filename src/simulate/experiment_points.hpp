#pragma once
/// The trials of an experiment, gathered into one table for each of its points. Pure functions.

#include <string>
#include <vector>

#include "simulate/experiment.hpp"
#include "simulate/experiment_statistics.hpp"

namespace gantry::simulate {

struct ExperimentPoint {
  std::string label;
  ExperimentTable table{};  ///< by repetition; may have no cases yet
};

/// In the order of the experiment. Repetitions beyond the experiment's are left out.
[[nodiscard]] std::vector<ExperimentPoint> experiment_points(const Experiment& experiment,
                                                             std::vector<TrialOutcome> trials);

/// The mean makespan of each scheduler over the cases of a table.
[[nodiscard]] std::vector<Measure> mean_makespans(const ExperimentTable& table);

}  // namespace gantry::simulate
