#pragma once
/// The far end of an ssh connection: passes bytes between its stdin and stdout and the host's
/// agent, which goes on without it. So a broken connection costs nothing but the relay.

#include "agent/agent_process.hpp"
#include "base/result.hpp"

namespace gantry::agent {

/// Connects to the agent of `state_dir`, starting one when there is none, and returns when either
/// side closes.
Result<> relay(const std::filesystem::path& state_dir, const AgentProgram& program, int in,
               int out);

/// Passes what comes from `in` to `peer` and what comes from there to `out`, until one closes.
Result<> join(int in, int out, int peer);

}  // namespace gantry::agent
