#pragma once
/// A task, ready to be run: plain values, produced from the sweep by index when they are needed.

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
  Duration walltime{0};       ///< where less time is left it is not started; 0 = not declared
  bool learn_memory = false;  ///< then the memory is found out by the engine, from what tasks use
  friend bool operator==(const Resources&, const Resources&) = default;
};

/// What tells one task from another for whoever decides where it runs. Tasks that need the same are
/// one class.
struct TaskNeeds {
  Resources resources{};
  std::vector<FileId> files{};  ///< shared inputs, ascending
  double cost = 1;              ///< relative
  double private_bytes = 0;     ///< inputs of its own, which travel with it
  double output_bytes = 0;      ///< which come home when it has ended
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

/// What a task wants to be told before the time of its host is over.
struct Checkpoint {
  std::int32_t signal = 0;                    ///< 0 = nothing
  Duration before = std::chrono::minutes(1);  ///< so long it may take to save its state
  std::int32_t code = 0;                      ///< exit code that says that it has
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
  /// Absolute paths that a one-liner's values would have: inputs, where there is a regular file.
  std::vector<std::string> value_files;
  std::vector<std::string> outputs;  ///< absolute paths, must exist after it succeeded
  std::vector<std::string> staying;  ///< of these: left at the site where the task ran
  std::vector<std::string> collect;  ///< absolute paths of small files that `results:` reads
  Resources resources;
  Duration timeout{0};  ///< 0 = none
  Checkpoint checkpoint{};
};

}  // namespace gantry
