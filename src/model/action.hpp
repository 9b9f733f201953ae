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

using Action = std::variant<StartAttempt, CancelAttempt, RecallQueued>;

}  // namespace gantry
