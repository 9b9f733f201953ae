#pragma once
/// The agent of a site that wants a job for each task: a process on the login host that gantry
/// talks to as to any agent, but that has no slots. Tasks that it is given become elements of array
/// jobs, a few commands for thousands of them; their states are asked for all at once. All that it
/// knows is in folders (job_folder.hpp), so that it may come and go with gantry's connection.

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>

#include "agent/batch_queue.hpp"
#include "base/result.hpp"

namespace gantry::agent {

struct DeskConfig {
  std::filesystem::path state_dir;  ///< absolute
  BatchSystem system{};
  std::string name;          ///< jobs have this name and, behind a '-', the number of their batch
  std::uint32_t most = 100;  ///< jobs in the queue at once
  double rate = 1;           ///< arrays that are submitted in a second, at the most
  /// For the login shell. In `submit`, @BATCH@, @COUNT@ and @CORES@ stand for what they say,
  /// @MEMORY@ for Slurm's request of memory where tasks declare it, @PE@
  /// for Grid Engine's request of cores, @SCRATCH@ for the folder that we are in, @NEW@ for the
  /// cores again, but 0 when jobs with as many were submitted before.
  std::string submit;
  std::string queue;
  std::string cancel;  ///< behind it come jobs
  /// For so long nothing could be submitted: what waits is given back, and nothing more taken for
  /// another while, lest it wait here for ever.
  std::chrono::milliseconds patience = std::chrono::minutes(5);
  std::chrono::milliseconds rest = std::chrono::minutes(5);
  /// After so many rests it is believed that what nobody understands will not pass.
  std::uint32_t most_rests = 6;
};

/// Serves gantry at `in` and `out` until either is closed.
Result<> serve_desk(const DeskConfig& config, int in, int out);

}  // namespace gantry::agent
