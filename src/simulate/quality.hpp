#pragma once
/// The quality of information: estimates that are wrong on purpose, so that a study can say how
/// well planners live with wrong ones. An error is a wrong amount: what a planner is told of a task
/// with an error of +20% is what is true of a task with 1.2 times the work. docs/simulation.md
/// compares the kinds. The same seed gives the same errors.

#include <cstdint>
#include <memory>

#include "schedule/estimate_source.hpp"

namespace gantry::simulate {

/// How wrong estimates are.
enum class ErrorKind : std::uint8_t {
  none,
  uniform,   ///< by a factor from [1 - error, 1 + error]
  decaying,  ///< the same, but what is near in time is known better
  biased,    ///< each host by a factor of its own, for good; links are known exactly
  learned,   ///< nothing is known but what has been seen: see learned_estimates()
};

/// How long an error stays what it is. Of uniform and decaying ones.
enum class ErrorHolds : std::uint8_t {
  /// Each task on each host and each file on each link has an error of its own, until the next
  /// event. So more work may seem to take less time. Plans are sound nevertheless, but heuristics
  /// that look at the cheapest or dearest tasks alone look at those that really are. Not for
  /// decaying errors: those are taken as for_the_event.
  for_the_estimate,
  for_the_event,  ///< of a host or link, until there are estimates for another moment
  for_good,       ///< of a host or link
};

struct QualityOptions {
  ErrorKind kind = ErrorKind::none;
  double error = 0;  ///< from 0 to 1
  ErrorHolds holds = ErrorHolds::for_the_event;
  /// Decaying: so many seconds ahead, an error has half of its size.
  double half_ahead = 600;
  std::uint64_t seed = 0;
};

/// Nothing seems done more than a hundred times too early.
inline constexpr double kLeastFactor = 0.01;

/// REQUIRES: not `learned`, which has nothing to do with what is exact.
[[nodiscard]] std::shared_ptr<const schedule::EstimateSource> with_quality(
    std::shared_ptr<const schedule::EstimateSource> exact, const QualityOptions& options);

}  // namespace gantry::simulate
