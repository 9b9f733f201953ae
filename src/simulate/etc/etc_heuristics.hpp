#pragma once
/// The classic heuristics for independent tasks on unrelated machines: each places one task after
/// the other where it would be done first, and they differ in which task comes next. Ties go to the
/// task, then to the machine, that stands first. Pure functions.

#include <array>
#include <cstdint>
#include <string_view>

#include "simulate/etc/etc_matrix.hpp"

namespace gantry::simulate {

enum class EtcHeuristic : std::uint8_t {
  min_min,    ///< the task that can be done soonest
  max_min,    ///< the task whose soonest end is latest
  sufferage,  ///< the task that loses most when it does not get its best machine but the second
  /// Sufferage as Maheswaran et al. (1999) state it: in each pass every machine takes the one task
  /// that would suffer most among those that want it.
  sufferage_passes,
};

inline constexpr std::array kEtcHeuristics{EtcHeuristic::min_min, EtcHeuristic::max_min,
                                           EtcHeuristic::sufferage, EtcHeuristic::sufferage_passes};

std::string_view heuristic_name(EtcHeuristic heuristic);

EtcSchedule apply_heuristic(EtcHeuristic heuristic, const EtcMatrix& matrix);

}  // namespace gantry::simulate
