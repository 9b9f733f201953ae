#pragma once
/// The quality of information: estimates that are wrong on purpose, so that an experiment can
/// say how well planners live with wrong ones. An error is a wrong amount: what a planner is told
/// of a task with an error of +20% is what is true of a task with 1.2 times the work
/// (docs/simulation.md). The same seed gives the same errors.

#include <cstdint>
#include <memory>

#include "schedule/estimate_source.hpp"

namespace gantry::simulate {

/// How wrong estimates are.
enum class ErrorKind : std::uint8_t {
  none,
  /// Each host and each link by a factor from [1 - error, 1 + error], until there are estimates for
  /// another moment.
  uniform,
  learned,  ///< nothing is known but what has been seen: see learned_estimates()
};

struct QualityOptions {
  ErrorKind kind = ErrorKind::none;
  double error = 0;  ///< from 0 to 1
  std::uint64_t seed = 0;
};

/// Nothing seems done more than a hundred times too early.
inline constexpr double kLeastFactor = 0.01;

/// REQUIRES: not `learned`, which has nothing to do with what is exact.
[[nodiscard]] std::shared_ptr<const schedule::EstimateSource> with_quality(
    std::shared_ptr<const schedule::EstimateSource> exact, const QualityOptions& options);

}  // namespace gantry::simulate
