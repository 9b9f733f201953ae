#pragma once
/// Finding, starting and reaching the agent of this machine.

#include <filesystem>

#include "base/fd.hpp"
#include "base/result.hpp"

namespace gantry {

/// A connection to the agent that serves `state_dir`; starts one when there is none.
Result<UniqueFd> connect_agent(const std::filesystem::path& state_dir);

}  // namespace gantry
