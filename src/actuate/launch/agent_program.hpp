#pragma once
/// Where the agent's program is on this machine.

#include <filesystem>

#include "base/result.hpp"

namespace gantry {

/// Beside this program (a build), or where the package puts it.
Result<std::filesystem::path> find_agent();

}  // namespace gantry
