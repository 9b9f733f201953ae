#pragma once
/// What is asked of a batch system, and what its answers mean: command lines for a POSIX shell,
/// and their output. Pure text; whatever comes from outside is quoted, whatever comes back is
/// untrusted.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/batch_queue.hpp"
#include "base/time.hpp"

namespace gantry {

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
  Duration time{0};     ///< that tasks have in it; 0: as long as the batch system says
};

/// How long tasks may use a job of that walltime: before its end they are told to end, by the batch
/// system and by its agent, and what they leave has to get home. 0: nobody knows.
Duration time_for_tasks(Duration walltime);

/// The script of a job that becomes an agent.
std::string pilot_script(const PilotPlace& place);

/// Submits `script`, of which no line may be `end`: parse_job_id() reads what it prints.
std::string submit_command(BatchSystem system, const BatchRequest& request,
                           const std::string& job_name, const std::string& script,
                           std::string_view end);

/// Tells of all jobs with these names at once, also of those that ended a short while ago:
/// parse_queue() reads what it prints. Without names: of all that have not ended, without a head.
std::string queue_command(BatchSystem system, const std::vector<std::string>& names);
/// It has its head or end. A batch system that has nothing to tell says at least that.
bool is_whole(BatchSystem system, std::string_view answer);
/// Jobs of other names are left out, and so is what is no job.
std::vector<BatchJob> parse_queue(BatchSystem system, std::string_view output,
                                  const std::vector<std::string>& names);

/// What follows "jobs FOLDER SCRATCH" in the words that make the agent's program a desk
/// (agent/job_desk.hpp) whose jobs have this name: `most` of them in the queue at once, `rate`
/// arrays a second. No line of a script may be `end`.
struct DeskRequest {
  BatchSystem system{};
  BatchRequest job{};
  std::string name;
  std::string program{};  ///< the agent's, below the scratch folder
  std::string folder{};   ///< of the desk's records, below it
  std::uint32_t most = 0;
  double rate = 1;
  std::string end;
};
std::vector<std::string> desk_words(const DeskRequest& desk);

std::string cancel_command(BatchSystem system, const std::vector<std::string>& ids);

}  // namespace gantry
