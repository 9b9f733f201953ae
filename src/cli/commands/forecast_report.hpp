#pragma once
/// `gantry simulate forecasts`: how good forecasts are, on generated series and on trace files.

#include "cli/commands/simulate_options.hpp"
#include "cli/context.hpp"

namespace gantry::cli {

Result<int> run_forecast_experiment(Context& context, const SimulateOptions& options);

}  // namespace gantry::cli
