#pragma once
/// What the engine wants done. Actuators carry actions out and answer with events.

#include <cstdint>
#include <variant>
#include <vector>

#include "model/ids.hpp"
#include "model/task.hpp"

namespace gantry {

struct StartAttempt {
  TaskKey key;
  HostId host;
  Resources resources{};  ///< what the task may use, learnt memory included
};
/// End a running attempt and its whole process tree.
struct CancelAttempt {
  TaskKey key;
  HostId host;
};
/// Send a running attempt's process tree a signal. Nothing answers.
struct SignalAttempt {
  TaskKey key;
  HostId host;
  std::int32_t signal = 0;
};
/// Ask a running attempt to save its state and end, with the signal that its task declared. If it
/// does in time, its end says `checkpointed`.
struct CheckpointAttempt {
  TaskKey key;
  HostId host;
};
/// Give these attempts back if they have not started. AttemptReturned answers for each that comes
/// back.
struct RecallQueued {
  HostId host;
  std::vector<TaskKey> keys{};
};
/// Copy a shared file from one site to another; FileArrived or MoveFailed answers.
struct MoveFile {
  FileId file;
  SiteId from;
  SiteId to;
  friend bool operator==(const MoveFile&, const MoveFile&) = default;
};

/// Remove a shared file that no task needs from a site's depot. Actions for a site are carried out
/// in order: later moves use the room that this makes. Nothing answers.
struct DropFile {
  FileId file;
  SiteId site;
};

using Action = std::variant<StartAttempt, CancelAttempt, SignalAttempt, CheckpointAttempt,
                            RecallQueued, MoveFile, DropFile>;

}  // namespace gantry
