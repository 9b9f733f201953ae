#pragma once
/// Why finished tasks run again, in words for a person.

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "driver/driver.hpp"
#include "model/outcome.hpp"
#include "model/task.hpp"

namespace gantry::driver {

using OutdatedTasks = std::map<OutdatedBy, Outdated>;

struct OutdatedReason {
  OutdatedBy by = OutdatedBy::unknown;
  std::string name{};  ///< the file, or the problem with it; may be empty
};

/// The reason as the journal keeps it: "its output is not there: out.txt".
std::string reason_text(const OutdatedReason& reason);

/// Counts one more outdated task.
void add_outdated(OutdatedTasks& outdated, const OutdatedReason& reason);

/// The reason for the counted tasks: "work.sh changed".
std::string outdated_text(OutdatedBy by, const Outdated& outdated);

/// How a stored result was made.
struct Making {
  Fingerprint print;
  TimePoint began;
  std::string changed_input{};  ///< see AttemptEnded
  /// Files that its values name and that were made by this time may be its own work. No limit if an
  /// earlier attempt was seen to change one.
  TimePoint ended = TimePoint::max();
};

/// The origin of the result that the run has for the task; empty if it has none.
Result<Making> latest_making(const store::Store& store, RunId run, TaskId task);

/// Why a result must be made again; names the first newer file. REQUIRES: the fingerprints differ.
OutdatedReason what_changed(const Making& before, const Fingerprint& now, const Task& task);

/// The first declared output of a task that is neither here nor kept at a site; empty if there is
/// none.
std::string first_missing(const store::Store& store, const std::vector<std::string>& outputs);

}  // namespace gantry::driver
