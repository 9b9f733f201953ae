#pragma once
/// One slot: a process that runs one task at a time and knows, from the kernel, what belongs to it.
/// As the task's child subreaper it inherits whatever the task leaves behind, so "no children left"
/// proves that the whole process tree is gone. A process for each slot also lets spawning use every
/// core.
///
/// It is forked by the agent, speaks the protocol over a socket (Start and Cancel in, Ended out),
/// and ends, with the task it runs, when the agent does.

#include <filesystem>
#include <string>

#include "agent/staging.hpp"
#include "base/fd.hpp"
#include "base/result.hpp"

namespace gantry::agent {

struct ShepherdConfig {
  std::filesystem::path agent_dir;
  std::filesystem::path output_dir;
  std::string mark;  ///< NAME=value for the environment of its tasks
  unsigned slot = 0;
  SandboxKeeper keeper;
  int lock_fd = -1;  ///< the agent's flock, which lives until the last shepherd is gone
};

/// Forks a shepherd; returns its pid and the agent's end of the socket.
struct ShepherdHandle {
  int pid = -1;
  UniqueFd socket;
};
Result<ShepherdHandle> start_shepherd(const ShepherdConfig& config);

}  // namespace gantry::agent
