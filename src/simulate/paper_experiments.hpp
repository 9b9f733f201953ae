#pragma once
/// The experiments of the papers that Gantry stands on, by name. docs/experiments has what came
/// out, beside what the papers say; docs/simulation.md what they leave open. Pure functions.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "simulate/experiment.hpp"

namespace gantry::simulate {

struct PaperOptions {
  std::uint64_t seed = 1;
  std::uint32_t repetitions = 0;          ///< of each point; 0: as in the paper
  std::vector<std::string> schedulers{};  ///< none: the paper's, and `best`
  std::optional<double> bandwidth_scale{};
};

struct PaperExperiment {
  std::string_view name;
  std::string_view about;  ///< one line
};

[[nodiscard]] std::vector<PaperExperiment> paper_experiments();

/// Error usage, listing the names there are, when there is no such experiment or scheduler.
[[nodiscard]] Result<Experiment> paper_experiment(std::string_view name,
                                                  const PaperOptions& options = {});

}  // namespace gantry::simulate
