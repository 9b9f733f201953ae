#pragma once
/// The folders in which tasks run at a site: their inputs come from the depot, and nothing of them
/// stays unless it is to be fetched.

#include <filesystem>

#include "agent/staging.hpp"

namespace gantry {

/// `scratch` has the depot.
agent::SandboxKeeper make_sandbox_keeper(const std::filesystem::path& scratch);

}  // namespace gantry
