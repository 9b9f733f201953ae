#pragma once
/// `gantry simulate eta` and `gantry simulate apst-forecasts`: how good the forecasts of a run's
/// end and of run times are, on the grids of psa-table1 or in small erratic runs on one or a
/// few machines, for planners that know only what was seen.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/context.hpp"
#include "simulate/erratic_runs.hpp"

namespace gantry::cli {

inline constexpr std::string_view kEtaExperiment = "eta";
inline constexpr std::string_view kRunTimeExperiment = "apst-forecasts";

struct EtaExperimentOptions {
  std::string name;
  std::uint32_t cases = 0;  ///< 0 = 200
  std::uint64_t seed = 1;
  std::vector<std::string> schedulers{};  ///< none: a few
  std::uint32_t jobs = 0;                 ///< 0 = one a core
  bool json = false;
  std::optional<simulate::ErraticKind> kind{};  ///< none: on grids
};

Result<int> run_eta_experiment(Context& context, const EtaExperimentOptions& options);

}  // namespace gantry::cli
