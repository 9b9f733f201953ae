#pragma once
/// The trials of a study, gathered into one table for each of its points. Pure functions.

#include <string>
#include <vector>

#include "simulate/experiment.hpp"
#include "simulate/study_statistics.hpp"

namespace gantry::simulate {

struct StudyPoint {
  std::string label;
  StudyTable table{};  ///< by repetition; may have no cases yet
};

/// In the order of the experiment. Repetitions beyond the experiment's are left out.
[[nodiscard]] std::vector<StudyPoint> study_points(const Experiment& experiment,
                                                   std::vector<TrialOutcome> trials);

/// The mean makespan of each scheduler over the cases of a table.
[[nodiscard]] std::vector<Measure> mean_makespans(const StudyTable& table);

}  // namespace gantry::simulate
