#pragma once
/// What replaying a run's journal up to some event gives, so that opening it need not read a
/// million rows again. The engine makes and restores it, the store keeps it. Plain values.

#include <cstdint>
#include <utility>
#include <vector>

#include "base/time.hpp"
#include "model/ids.hpp"

namespace gantry {

/// How a task stands in the journal. A task that runs is `open` until its end is there.
enum class TaskStanding : std::uint8_t {
  open,
  done,    ///< by an attempt of this run
  reused,  ///< done by an earlier run's result
  failed,
  cancelled
};

struct TaskSnapshot {
  std::uint32_t attempt = 0;  ///< highest number of an attempt that has ended
  TaskStanding standing = TaskStanding::open;
  bool cancel = false;  ///< a person cancelled it; an attempt that is lost later changes nothing
  friend bool operator==(const TaskSnapshot&, const TaskSnapshot&) = default;
};

/// A task that died of memory and has not succeeded since.
struct MemoryDeath {
  TaskId task;
  std::uint64_t given = 0;   ///< bytes that its attempts had at the most
  std::uint64_t wanted = 0;  ///< by its next attempt
  friend bool operator==(const MemoryDeath&, const MemoryDeath&) = default;
};

struct RunSnapshot {
  bool closed = false;
  bool ever_succeeded = false;      ///< some task did, even if its result does not count any more
  std::vector<TaskSnapshot> tasks;  ///< by number
  /// Attempts with a lower number than the last of their task whose end is not known, ascending.
  std::vector<std::pair<TaskId, AttemptId>> unheard;
  /// The latest observations that forecasts begin with, oldest first: how long attempts took, and
  /// the memory that they used.
  std::vector<std::pair<TaskId, Duration>> run_times;
  std::vector<std::pair<TaskId, std::uint64_t>> memory;
  std::vector<MemoryDeath> deaths;  ///< ascending
  friend bool operator==(const RunSnapshot&, const RunSnapshot&) = default;
};

}  // namespace gantry
