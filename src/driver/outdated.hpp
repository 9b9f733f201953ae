#pragma once
/// Why finished tasks run again, for a person.

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
  std::string name{};  ///< the file, or what is wrong with it; may be empty
};

/// "its output is not there: out.txt", as the journal keeps it.
std::string reason_text(const OutdatedReason& reason);

/// Counts one more task.
void add_outdated(OutdatedTasks& outdated, const OutdatedReason& reason);

/// "work.sh changed": for the tasks that were counted.
std::string outdated_text(OutdatedBy by, const Outdated& outdated);

/// How a result came to be.
struct Making {
  Fingerprint print;
  TimePoint began;
  std::string changed_input{};  ///< see AttemptEnded
  /// Files of its values that were made until then may be its own work; without an end when an
  /// earlier attempt was seen to change one.
  TimePoint ended = TimePoint::max();
};

/// Of the result that the run has for its task; empty when it has none.
Result<Making> latest_making(const store::Store& store, RunId run, TaskId task);

/// Why a result must be made again; names the first file that is newer. REQUIRES: the fingerprints
/// differ.
OutdatedReason what_changed(const Making& before, const Fingerprint& now, const Task& task);

/// Of files that a task has written, the first that is neither here nor kept at a site; empty when
/// all are.
std::string first_missing(const store::Store& store, const std::vector<std::string>& outputs);

}  // namespace gantry::driver
