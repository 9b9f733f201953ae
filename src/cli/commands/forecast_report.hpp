#pragma once
/// `gantry simulate forecasts`: how good forecasts are, on generated series and on trace files.

#include <cstdint>
#include <string>
#include <vector>

#include "cli/context.hpp"

namespace gantry::cli {

struct ForecastExperimentOptions {
  std::vector<std::string> files;  ///< besides the generated series
  std::uint32_t each = 0;          ///< generated series of each kind; 0 = as many as usual
  std::uint64_t seed = 1;
  std::uint32_t jobs = 0;  ///< 0 = one a core
  std::string out;         ///< folder of the CSV
  bool json = false;
};

Result<int> run_forecast_experiment(Context& context, const ForecastExperimentOptions& options);

}  // namespace gantry::cli
