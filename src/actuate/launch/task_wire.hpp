#pragma once
/// Between what the model says and what agents are told.

#include <string>
#include <string_view>

#include "agent/protocol.hpp"
#include "model/outcome.hpp"
#include "model/task.hpp"

namespace gantry {

agent::AttemptKey to_wire(const TaskKey& key);
TaskKey from_wire(const agent::AttemptKey& key);

/// Without its tag.
agent::Start to_wire(const TaskKey& key, const Task& task);
/// REQUIRES: knows_cause().
AttemptReport from_wire(agent::Ended&& m);
bool knows_cause(const agent::Ended& ended);

/// What the agent gives back with a task's end.
std::string to_tag(const Fingerprint& f);
Fingerprint from_tag(std::string_view tag);

}  // namespace gantry
