#pragma once
/// What is asked of a batch system, and what its answers mean: command lines for a POSIX shell,
/// and their output. Pure text; whatever comes from outside is quoted, whatever comes back is
/// untrusted.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.hpp"

namespace gantry {

enum class BatchSystem : std::uint8_t { slurm, sge };

/// What every job of a site asks for.
struct BatchRequest {
  std::string queue{};  ///< Slurm's partition; empty: the system's default
  std::string account{};
  Duration walltime{0};  ///< 0: the system's default
  std::uint32_t slots = 1;
  std::vector<std::string> directives{};  ///< options of sbatch or qsub, words divided by spaces
};

struct PilotPlace {
  std::string scratch;  ///< absolute, at the site
  std::string program;  ///< the agent's, below it
  std::string folder;   ///< of the agent's records, below it
};

enum class JobState : std::uint8_t {
  queued,
  running,
  ending,  ///< or suspended: nothing can be expected of it
  stuck,   ///< the batch system will never start it
};

struct BatchJob {
  std::string id;
  std::string name;
  JobState state{};
};

/// The script of a job that becomes an agent.
std::string pilot_script(const PilotPlace& place);

/// Submits `script`, of which no line may be `end`: parse_job_id() reads what it prints.
std::string submit_command(BatchSystem system, const BatchRequest& request,
                           const std::string& job_name, const std::string& script,
                           std::string_view end);
std::optional<std::string> parse_job_id(BatchSystem system, std::string_view output);

/// Tells of all jobs with these names at once: parse_queue() reads what it prints.
std::string queue_command(BatchSystem system, const std::vector<std::string>& names);
/// Jobs of other names are left out, and so is what is no job.
std::vector<BatchJob> parse_queue(BatchSystem system, std::string_view output,
                                  const std::vector<std::string>& names);

std::string cancel_command(BatchSystem system, const std::vector<std::string>& ids);

/// What a person should read of a failed command's output: its last line that says something.
std::string reason_in(std::string_view output);
/// Trying the same again cannot help: the partition does not exist, the account may not.
bool is_hopeless(std::string_view output);

}  // namespace gantry
