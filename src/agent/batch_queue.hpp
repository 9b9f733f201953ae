#pragma once
/// What batch systems say of their jobs, as gantry and the desk of a site read it. Pure text, and
/// untrusted.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gantry {

enum class BatchSystem : std::uint8_t { slurm, sge };

enum class JobState : std::uint8_t {
  queued,
  running,
  suspended,  ///< stopped by the batch system, and perhaps let go on one day
  ending,     ///< nothing can be expected of it
  ended,      ///< listed for a while yet
  stuck,      ///< it could not be started, and the batch system will not try again
  unfit,      ///< it asks for more than any node has, and waits for ever
};

struct BatchJob {
  std::string id;
  std::string name;
  JobState state{};
  std::uint32_t element = 0;  ///< of an array; 0 = it is none
  std::string reason{};       ///< why it waits, in a word of the batch system
};

/// What squeue or qstat printed, as queue_command() of actuate/launch/batch/batch_system.hpp asks
/// them. What is no job is left out.
std::vector<BatchJob> parse_jobs(BatchSystem system, std::string_view output);

/// The number that sbatch or qsub printed.
std::optional<std::string> parse_job_id(std::string_view output);

/// What a person should read of a failed command's output: its last line that says something.
std::string reason_in(std::string_view output);

/// What a person should read of a scancel or qdel that failed; empty: the jobs had only ended
/// already.
std::string why_not_cancelled(std::string_view output);

/// Of a job that was not taken.
enum class SubmitProblem : std::uint8_t {
  passing,   ///< a limit of jobs, a controller that is away: it will be taken one day
  unknown,   ///< nobody can tell; not for ever, if it stays so
  hopeless,  ///< the partition does not exist, the account may not: the same again cannot help
};
SubmitProblem why_not_taken(std::string_view output);

}  // namespace gantry
