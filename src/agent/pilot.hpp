#pragma once
/// An agent that a batch system runs on one of its nodes: as the job's own process, for as long as
/// the job may run. Nobody can log in there, so it also listens on a TCP port of its node and tells
/// where by a file on the shared file system that only its user can read. Whoever connects says the
/// secret of that file first.
///
/// The job's process is the gate: it accepts connections, each of which gets a process of its own
/// that passes bytes on to the agent's socket. What comes from the network never reaches the agent
/// before it has shown the secret.

#include <filesystem>

#include "agent/agent.hpp"
#include "base/result.hpp"

namespace gantry::agent {

/// Serves until the agent has ended: because there is nothing to do, because the batch system says
/// so by a signal (SIGTERM, SIGUSR1 or SIGUSR2), or because its time for tasks is over (0: no end).
/// Tasks that still run then are ended politely.
Result<> serve_as_pilot(const std::filesystem::path& state_dir, SandboxKeeper keeper,
                        std::chrono::nanoseconds time);

/// From the login host: finds the pilot of `state_dir`, waits a while for it to come up, and passes
/// bytes between it and `in` and `out` until either side closes.
Result<> reach_pilot(const std::filesystem::path& state_dir, int in, int out);

}  // namespace gantry::agent
