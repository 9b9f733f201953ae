#pragma once
/// Starting and reaching the agent of this machine.

#include <filesystem>
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

/// A connection to the agent that serves `state_dir`; starts one when there is none.
Result<UniqueFd> connect_agent(const std::filesystem::path& state_dir, const AgentProgram& program);

}  // namespace gantry::agent
