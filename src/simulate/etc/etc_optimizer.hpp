#pragma once
/// Schedules of independent tasks on unrelated machines that are close to the lower bound, found by
/// rounding linear programs: of the whole, then of a few machines at a time. No clock: whoever
/// calls says when to stop.

#include <cstdint>
#include <functional>
#include <limits>

#include "simulate/etc/etc_matrix.hpp"

namespace gantry::simulate {

struct EtcOptimizerOptions {
  std::uint64_t seed = 0;
  std::uint64_t max_moves = std::numeric_limits<std::uint64_t>::max();
  std::function<bool()> stop{};  ///< asked all the time: make it cheap
};

struct EtcOptimum {
  EtcSchedule schedule;
  double makespan = 0;
  double bound = 0;  ///< no schedule is better; 0 when it was stopped before that was known
  std::uint64_t moves = 0;
};

/// At least as good as the best of the heuristics. Without `stop` the same arguments give the same
/// schedule; it ends by itself only with max_moves, or when the bound is reached.
EtcOptimum optimize_etc(const EtcMatrix& matrix, const EtcOptimizerOptions& options);

}  // namespace gantry::simulate
