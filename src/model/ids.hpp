#pragma once
/// The identifiers of the domain.

#include <cstdint>

#include "base/strong_id.hpp"

namespace gantry {

/// A run within one state directory, from 1.
using RunId = StrongId<struct RunTag, std::uint32_t>;
/// A task within its run: its place in the sweep, from 1.
using TaskId = StrongId<struct TaskTag, std::uint32_t>;
using HostId = StrongId<struct HostTag, std::uint32_t>;
/// One try at a task, from 1; never reused, also not after a crash.
using AttemptId = StrongId<struct AttemptTag, std::uint32_t>;

/// What an actuator needs to name one try of one task.
struct TaskKey {
  RunId run;
  TaskId task;
  AttemptId attempt;
  friend auto operator<=>(const TaskKey&, const TaskKey&) = default;
};

}  // namespace gantry
