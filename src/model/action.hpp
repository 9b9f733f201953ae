#pragma once
/// What the engine wants done. Actuators carry actions out and answer with events.

#include <variant>

#include "model/ids.hpp"

namespace gantry {

struct StartAttempt {
  TaskId task;
  AttemptId attempt;
  HostId host;
};
/// End a running attempt and its whole process tree.
struct CancelAttempt {
  TaskId task;
  AttemptId attempt;
  HostId host;
};
/// Give back what was handed over but has not started.
struct RecallQueued {
  HostId host;
};
/// Copy a shared file from one site to another; FileArrived or MoveFailed answers.
struct MoveFile {
  FileId file;
  SiteId from;
  SiteId to;
  friend bool operator==(const MoveFile&, const MoveFile&) = default;
};

using Action = std::variant<StartAttempt, CancelAttempt, RecallQueued, MoveFile>;

}  // namespace gantry
