#pragma once
/// A task, ready to be run: plain values, produced from the sweep by index when they are needed.

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/hash.hpp"
#include "base/time.hpp"
#include "model/ids.hpp"

namespace gantry {

struct Resources {
  std::uint32_t cores = 1;
  std::uint64_t memory = 0;   ///< bytes; 0 = not declared: not packed and not limited
  Duration walltime{0};       ///< it is not started on a host with less time left; 0 = not declared
  bool learn_memory = false;  ///< the engine learns its memory from what tasks use
  friend bool operator==(const Resources&, const Resources&) = default;
};

/// What schedulers know about a task. Tasks with equal needs are one class.
struct TaskNeeds {
  Resources resources{};
  std::vector<FileId> files{};  ///< shared inputs, ascending
  double cost = 1;              ///< relative
  double private_bytes = 0;     ///< inputs of its own, which travel with it
  double output_bytes = 0;      ///< outputs, which come home when it has ended
  friend bool operator==(const TaskNeeds&, const TaskNeeds&) = default;
};

/// How failed attempts are tried again: the n-th retry waits backoff * factor^(n-1), at most
/// max_backoff.
struct RetryPolicy {
  std::uint32_t retries = 0;
  Duration backoff{0};
  double factor = 2.0;
  Duration max_backoff = std::chrono::minutes(10);
  friend bool operator==(const RetryPolicy&, const RetryPolicy&) = default;
};

/// How a task is warned before the time of its host is over.
struct Checkpoint {
  std::int32_t signal = 0;                    ///< 0 = nothing
  Duration before = std::chrono::minutes(1);  ///< time that it has to save its state
  std::int32_t code = 0;  ///< exit code by which it says that it has saved its state
  friend bool operator==(const Checkpoint&, const Checkpoint&) = default;
};

/// A parameter's name and the text that is substituted for it.
using Binding = std::pair<std::string, std::string>;

struct Task {
  TaskId id;
  std::vector<std::string> argv;     ///< never empty; argv[0] is looked up in PATH by the agent
  std::vector<Binding> parameters;   ///< in the order of the spec, derived values last
  std::vector<Binding> environment;  ///< what the spec adds, without GANTRY_*
  std::string workdir;               ///< absolute
  bool make_workdir = false;         ///< the spec named a directory of the task's own: create it
  std::vector<std::string> inputs;   ///< absolute paths, must exist before the task starts
  /// Absolute paths for a one-liner's values: those that are regular files are inputs.
  std::vector<std::string> value_files;
  std::vector<std::string> outputs;  ///< absolute paths, must exist after it succeeded
  std::vector<std::string> staying;  ///< outputs that stay at the site where it ran
  std::vector<std::string> collect;  ///< absolute paths of small files that `results:` reads
  Resources resources;
  Duration timeout{0};  ///< 0 = none
  Checkpoint checkpoint{};
};

/// Whether a file that `results:` reads is also an input: the task need not write it, and many may
/// read it.
[[nodiscard]] inline bool only_reads(const Task& task, const std::string& path) {
  return std::ranges::find(task.inputs, path) != task.inputs.end();
}

}  // namespace gantry
