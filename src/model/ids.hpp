#pragma once
/// The identifiers of the domain.

#include <cstdint>

#include "base/strong_id.hpp"

namespace gantry {

/// A run within one state directory, from 1.
using RunId = StrongId<struct RunTag, std::uint32_t>;
/// A node of a run's application, from 0; a sweep has one.
using NodeId = StrongId<struct NodeTag, std::uint32_t>;
/// A task within its run, from 1: dense, only ever appended, never changed (model/batch.hpp).
using TaskId = StrongId<struct TaskTag, std::uint32_t>;
using HostId = StrongId<struct HostTag, std::uint32_t>;
/// A place with one storage that its hosts share; 0 is home, where the person's files are.
using SiteId = StrongId<struct SiteTag, std::uint32_t>;
inline constexpr SiteId kHome{0};
/// A file that tasks read or make, from 0; the same for all runs of a state directory.
using FileId = StrongId<struct FileTag, std::uint32_t>;
/// One try at a task, from 1. The number of a try that may have started is never reused, not even
/// after a crash; one that came back unstarted is.
using AttemptId = StrongId<struct AttemptTag, std::uint32_t>;

/// What an actuator needs to name one try of one task.
struct TaskKey {
  RunId run;
  TaskId task;
  AttemptId attempt;
  friend auto operator<=>(const TaskKey&, const TaskKey&) = default;
};

}  // namespace gantry
