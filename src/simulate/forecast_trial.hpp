#pragma once
/// How good the forecasts of a run are: each forecast beside the value that came. One run in
/// virtual time, with planners that know only what they have seen.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "simulate/experiment.hpp"

namespace gantry::simulate {

/// The ETA when this share of the tasks was done, all in seconds.
struct EtaSample {
  double share = 0;
  double at = 0;
  double soonest = 0;
  double expected = 0;  ///< of the rest
  double latest = 0;
  double rest = 0;  ///< as it was
};

/// An attempt: its forecast when it started.
struct AttemptSample {
  double at = 0;          ///< when it started
  std::uint32_t nth = 0;  ///< attempts that had ended on its host before
  double expected = 0;    ///< 0 = nothing was known
  double actual = 0;
};

struct ForecastTrial {
  double makespan = 0;
  std::vector<EtaSample> etas{};           ///< one for each share
  std::vector<AttemptSample> run_times{};  ///< by their ends
};

/// What happens to tasks of which nothing is declared.
struct Unforeseen {
  engine::Workload workload;
  VirtualGrid grid;
  FateOf fate_of;
};

/// `shares` ascend, in (0, 1).
[[nodiscard]] Result<ForecastTrial> forecast_trial(const Trial& trial, const std::string& scheduler,
                                                   std::uint64_t seed,
                                                   std::span<const double> shares);
[[nodiscard]] Result<ForecastTrial> forecast_trial(const Unforeseen& run,
                                                   const std::string& scheduler, std::uint64_t seed,
                                                   std::span<const double> shares);

}  // namespace gantry::simulate
