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

using OutdatedTasks = std::map<std::string, Outdated>;

/// Counts one more task by its reason; what follows a colon is an example.
void add_outdated(OutdatedTasks& outdated, const std::string& reason);

/// "work.sh changed": the reason and its example in words.
std::string outdated_text(const std::string& reason, const Outdated& outdated);

/// How a result came to be.
struct Making {
  Fingerprint print;
  TimePoint began;
  std::string noted{};  ///< see changed_meanwhile()
  /// Files of its values that were made until then may be its own work; without an end when an
  /// earlier attempt was seen to change one.
  TimePoint ended = TimePoint::max();
};

/// Of the result that the run has for its task; empty when it has none.
Result<Making> latest_making(const store::Store& store, RunId run, TaskId task);

/// Why a result must be made again; names the first file that is newer. REQUIRES: the fingerprints
/// differ.
std::string what_changed(const Making& before, const Fingerprint& now, const Task& task);

/// What is noted with a success one of whose inputs changed while it ran.
std::string changed_meanwhile(std::string_view path);

/// Of files that a task has written, the first that is neither here nor kept at a site; empty when
/// all are.
std::string first_missing(const store::Store& store, const std::vector<std::string>& outputs);

}  // namespace gantry::driver
