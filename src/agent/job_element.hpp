#pragma once
/// One job of a batch system that runs one task: takes it from the folder of its batch, runs it
/// under a shepherd as every agent does, and leaves its report there.

#include <cstdint>
#include <filesystem>

#include "agent/staging.hpp"
#include "base/result.hpp"

namespace gantry::agent {

/// Runs element `index` of the batch, unless it was withdrawn or has been run. Large output goes
/// below `output_dir`. Ends early when the batch system says so by a signal: the task then counts
/// as lost.
Result<> run_job_element(const std::filesystem::path& batch, std::uint32_t index,
                         const std::filesystem::path& output_dir, SandboxKeeper keeper);

}  // namespace gantry::agent
