#pragma once
/// What the engine wants done. Actuators carry actions out and answer with events.

#include <variant>
#include <vector>

#include "model/ids.hpp"
#include "model/task.hpp"

namespace gantry {

struct StartAttempt {
  TaskKey key;
  HostId host;
  Resources resources{};  ///< what the task may use: learnt memory included
};
/// End a running attempt and its whole process tree.
struct CancelAttempt {
  TaskKey key;
  HostId host;
};
/// Give these attempts back, of those that have not started.
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

/// Remove a shared file from a site's depot, where no task needs it. Actuators carry out the
/// actions for a site in order: the room that this makes is given to the moves that follow. Nothing
/// answers.
struct DropFile {
  FileId file;
  SiteId site;
};

using Action = std::variant<StartAttempt, CancelAttempt, RecallQueued, MoveFile, DropFile>;

}  // namespace gantry
