#pragma once
/// `gantry simulate eta` and `gantry simulate apst-forecasts`: how good the forecasts of a run's
/// end and of run times are, on the grids of psa-table1 or in small erratic runs on one or a
/// few machines, for planners that know only what was seen.

#include <string_view>

#include "cli/commands/simulate_options.hpp"
#include "cli/context.hpp"

namespace gantry::cli {

inline constexpr std::string_view kEtaExperiment = "eta";
inline constexpr std::string_view kRunTimeExperiment = "apst-forecasts";

Result<int> run_eta_experiment(Context& context, const SimulateOptions& options);

}  // namespace gantry::cli
