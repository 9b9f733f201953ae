#pragma once
/// This machine as a site with one host: tasks run under an agent process that outlives gantry.
/// They see home's files: no mover is needed. Owned by a Site, used from its thread.

#include <cstdint>
#include <filesystem>
#include <memory>

#include "actuate/launcher.hpp"
#include "base/time.hpp"

namespace gantry {

struct LocalSite {
  std::filesystem::path state_dir;  ///< absolute; the agent lives in its "agent" folder
  std::uint32_t cores = 1;          ///< how many to pack tasks into
  std::uint64_t memory = 0;         ///< bytes to pack declared memory into
  /// What a task has between SIGTERM and SIGKILL.
  Duration grace = std::chrono::seconds(5);
};

LaunchParts make_local_launcher(LocalSite site);

/// Whether an agent serves this state directory now.
bool agent_is_running(const std::filesystem::path& state_dir);

struct AgentTasks {
  std::vector<TaskKey> running;  ///< none when there is no agent
  /// Ends in its logs, without output and result files; gantry may have taken some of them in.
  std::vector<AttemptReport> ended;
};

/// As the agent's slots' logs say. Disturbs nobody.
Result<AgentTasks> tasks_of_agent(const std::filesystem::path& state_dir);

}  // namespace gantry
