#pragma once
/// How an attempt ended. A task's failure is data: it is stored, shown and counted like a success.

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/hash.hpp"
#include "base/time.hpp"
#include "model/ids.hpp"

namespace gantry {

/// The journal stores these numbers: append only, never renumber.
enum class FailureCause : std::uint8_t {
  none = 0,            ///< succeeded
  exit_code = 1,       ///< ended with a status other than 0
  signal = 2,          ///< ended by a signal that we did not send
  timeout = 3,         ///< ran past its timeout and was killed
  out_of_memory = 4,   ///< past its declared memory, or killed by the kernel for memory
  missing_output = 5,  ///< exit 0, but a declared output is not there
  missing_result = 6,  ///< exit 0, but a `results:` value could not be read
  start_failed = 7,    ///< the program could not be started (not found, not executable …)
  missing_input = 8,   ///< a declared input vanished before the start
  cancelled = 9,       ///< a person cancelled it
  lost = 10,           ///< its host or agent died under it; not the task's fault
  checkpointed = 11,   ///< it was asked to save its state and did; it continues later
};

/// "exit code", "timeout" …: for tables and JSON.
std::string_view to_string(FailureCause cause);

/// What a stream printed. Small output is held in `text`; of large output `text` is the last part
/// and the whole lies in `pack` at [offset, offset+size).
struct CapturedOutput {
  std::uint64_t size = 0;
  std::string text;
  std::string
      pack;  ///< file name below the state directory's output folder; empty when all is in `text`
  std::uint64_t offset = 0;
  bool truncated = false;  ///< the disk was full or a limit was reached: not everything was kept
};

struct Usage {
  Duration user{0};
  Duration system{0};
  std::uint64_t max_rss = 0;  ///< bytes
};

/// An output that stays at the site where it was made, until somebody fetches it.
struct RemoteFile {
  std::string path;    ///< absolute, here: where it belongs
  std::string site;    ///< the site's name
  std::string remote;  ///< relative to the site's scratch folder
  std::uint64_t bytes = 0;
  Digest content;
  std::string grid;  ///< the grid file that tells how the site is reached
  friend bool operator==(const RemoteFile&, const RemoteFile&) = default;
};

/// An agent's report about one finished attempt.
struct AttemptReport {
  TaskKey key;
  FailureCause cause = FailureCause::none;
  std::int32_t code = 0;           ///< exit status, signal number or errno, as `cause` says
  std::string detail;              ///< a path or message that explains the cause, for people
  std::uint64_t memory_limit = 0;  ///< if it ran out of memory: its limit in bytes; 0 = not known
  TimePoint started;
  TimePoint ended;
  Usage usage;
  CapturedOutput out;
  CapturedOutput err;
  std::vector<std::pair<std::string, std::string>>
      collected;  ///< path -> content of the files that `results:` reads
  std::vector<RemoteFile> remote_files{};
};

/// False if the attempt was cancelled or lost before it started.
inline bool was_started(const AttemptReport& report) {
  return report.started != kNever && report.started < report.ended;
}

/// One line for a person: "exit code 3", "killed by signal 11 (Segmentation fault)", "timeout" …
std::string describe(FailureCause cause, std::int32_t code, std::string_view detail);

/// What makes a task "the same": when any part differs, the task is run again.
struct Fingerprint {
  Digest command;  ///< argv and working directory
  Digest environment;
  Digest inputs;  ///< paths and contents, the program itself included
  friend bool operator==(const Fingerprint&, const Fingerprint&) = default;
  [[nodiscard]] bool empty() const { return command.empty(); }
};

/// All of a fingerprint in 64 bits: enough to see that it has changed. Never 0.
inline std::uint64_t brief(const Fingerprint& print) {
  return (print.command.low + 3 * print.environment.low + 5 * print.inputs.low) | 1U;
}

}  // namespace gantry
