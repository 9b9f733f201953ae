#pragma once
/// Starting and reaching the agent of this machine.

#include <chrono>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "base/fd.hpp"
#include "base/result.hpp"

namespace gantry::agent {

/// What to run to have an agent.
struct AgentProgram {
  std::filesystem::path path;
  std::vector<std::string> options{};  ///< behind the folders that it serves
};

/// Folders for an agent that is to serve `state_dir`, the private ones for this user only.
Result<> make_state_folders(const std::filesystem::path& state_dir);

/// The lock of an agent's folder. Waits for whoever has it, at most for that long, and not once
/// nobody wants it any more; then the error is `busy`.
Result<UniqueFd> take_lock(const std::filesystem::path& agent_dir, std::chrono::seconds patience,
                           const std::function<bool()>& is_needless = {});

/// A connection to the agent that serves `state_dir`; starts one when there is none.
Result<UniqueFd> connect_agent(const std::filesystem::path& state_dir, const AgentProgram& program);

}  // namespace gantry::agent
