#pragma once
/// Classes that differ in nothing but their work are a slice: their inputs can be at a site at the
/// same time, so one look at a host serves them all. A pure function.

#include <cstdint>
#include <span>
#include <vector>

#include "schedule/planning.hpp"

namespace gantry::schedule {

/// All classes with tasks that wait, by slice; within a slice the least work first, and of equal
/// works the one with the lower rank.
[[nodiscard]] std::vector<std::vector<std::uint32_t>> class_slices(
    std::span<const TaskClass> classes, std::span<const std::uint32_t> class_ranks);

}  // namespace gantry::schedule
