#pragma once
/// The paper's four ways to choose the next task and its host (Casanova et al., "Heuristics for
/// Scheduling Parameter Sweep Applications in Grid Environments", Appendix A), as a total order:
/// the task with the least Priority is next. Pure functions.

#include <compare>
#include <cstdint>
#include <string_view>
#include <vector>

#include "schedule/planning.hpp"

namespace gantry::schedule {

enum class Heuristic : std::uint8_t {
  min_min,     ///< the task that can be complete first
  max_min,     ///< the task whose best completion is last
  sufferage,   ///< the task that loses most if it gets its second-best host
  xsufferage,  ///< the task that loses most if it gets its second-best site
};

[[nodiscard]] std::string_view name(Heuristic heuristic);

/// What a task would get on a host. Hosts are compared by it: the least is the best.
struct Completion {
  Seconds returned = kInfinite;  ///< the output is home: the completion time of the paper
  Seconds end = kInfinite;       ///< of the computation: decides when outputs share a gap
  std::uint32_t rank = ~0U;      ///< of the host among those that tie
  friend auto operator<=>(const Completion&, const Completion&) = default;
};

struct Priority {
  double first = kInfinite;
  double second = kInfinite;
  double third = kInfinite;
  std::uint32_t rank = ~0U;  ///< of the class among those that tie
  friend auto operator<=>(const Priority&, const Priority&) = default;
};

/// Of a task with this best completion. `other` is its completion on the second-best host
/// (sufferage) or at the second-best site (xsufferage), infinite if there is none: such a task
/// suffers infinitely, and of several such the one that is complete first is next.
/// REQUIRES: best.returned is finite.
[[nodiscard]] Priority priority(Heuristic heuristic, const Completion& best, Seconds other,
                                double work, std::uint32_t class_rank);

/// The random order in which ties are decided: each class's and each host's place in it. The same
/// for the same seed.
struct TieRanks {
  TieRanks(const Situation& situation, std::uint64_t seed);
  std::vector<std::uint32_t> of_class;
  std::vector<std::uint32_t> of_host;
};

}  // namespace gantry::schedule
