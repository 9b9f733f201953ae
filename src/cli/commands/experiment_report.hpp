#pragma once
/// What an experiment found, as tables for a person or as JSON for a program.

#include <filesystem>
#include <string>
#include <vector>

#include "cli/context.hpp"
#include "simulate/experiment_points.hpp"

namespace gantry::cli {

/// A table for each point; of more than a few points one for all, with the mean makespans.
void print_experiment(Context& context, const std::vector<simulate::ExperimentPoint>& points);

/// Which experiment: the beginning of the JSON object.
struct ExperimentLabel {
  std::string experiment;
  std::uint64_t seed = 1;
  std::uint32_t cases = 0;  ///< of each point that were asked for
  bool complete = true;
};
void print_experiment_json(Context& context, const ExperimentLabel& label,
                           const std::vector<simulate::ExperimentPoint>& points);

/// Makes the folder for the files of an experiment, unless it is there.
Result<std::filesystem::path> make_folder(const std::string& name);

/// "1234", "87.5": seconds with as many digits as say something.
std::string seconds_text(double seconds);

}  // namespace gantry::cli
