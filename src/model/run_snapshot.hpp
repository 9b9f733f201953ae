#pragma once
/// The state of a run after some event of its journal, so that opening the run need not replay a
/// million rows. The engine makes and restores it, the store keeps it. Plain values.

#include <cstdint>
#include <utility>
#include <vector>

#include "base/time.hpp"
#include "model/ids.hpp"

namespace gantry {

/// The state of a task according to the journal. A running task is `open` until its end is there.
enum class TaskStanding : std::uint8_t {
  open,
  done,    ///< by an attempt of this run
  reused,  ///< done by the result of an earlier run
  failed,
  cancelled
};

struct TaskSnapshot {
  std::uint32_t attempt = 0;  ///< highest number of an attempt that has ended
  TaskStanding standing = TaskStanding::open;
  bool cancel = false;  ///< a person cancelled it; an attempt that is lost later changes nothing
  friend bool operator==(const TaskSnapshot&, const TaskSnapshot&) = default;
};

/// A task that ran out of memory and has not succeeded since.
struct MemoryDeath {
  TaskId task;
  std::uint64_t given = 0;   ///< the most bytes that its attempts had
  std::uint64_t wanted = 0;  ///< bytes for its next attempt
  friend bool operator==(const MemoryDeath&, const MemoryDeath&) = default;
};

struct RunSnapshot {
  bool closed = false;
  bool ever_succeeded = false;  ///< some task has succeeded, even if its result no longer counts
  std::vector<TaskSnapshot> tasks;  ///< by number
  /// Attempts whose end is not known although a later one of their task has ended, ascending.
  std::vector<std::pair<TaskId, AttemptId>> unheard;
  /// The latest observations, with which forecasts begin, oldest first: run times of attempts, and
  /// the memory that they used.
  std::vector<std::pair<TaskId, Duration>> run_times;
  std::vector<std::pair<TaskId, std::uint64_t>> memory;
  std::vector<MemoryDeath> deaths;  ///< ascending
  friend bool operator==(const RunSnapshot&, const RunSnapshot&) = default;
};

}  // namespace gantry
