#pragma once
/// Why finished tasks run again, for a person.

#include <map>
#include <string>
#include <vector>

#include "driver/driver.hpp"
#include "model/outcome.hpp"
#include "model/task.hpp"

namespace gantry::driver {

using OutdatedTasks = std::map<std::string, Outdated>;  ///< by Reason::what

/// Why a finished task runs again.
struct Reason {
  std::string what;       ///< tasks that run again for the same are told of together
  std::string example{};  ///< such as a file; may be empty
  [[nodiscard]] bool empty() const { return what.empty(); }
  /// "its output is not there: out.dat"
  [[nodiscard]] std::string text() const;
};

/// Counts one more task.
void add_outdated(OutdatedTasks& outdated, const Reason& reason);

/// "work.sh changed": the reason and its example in words.
std::string outdated_text(const std::string& what, const Outdated& outdated);

/// How a result came to be.
struct Making {
  Fingerprint print;
  TimePoint began;
  std::string changed_input{};  ///< as AttemptEnded's
  /// Files of its values that were made until then may be its own work; without an end when an
  /// earlier attempt was seen to change one.
  TimePoint ended = TimePoint::max();
};

/// Of the result that the run has for its task; empty when it has none.
Result<Making> latest_making(const store::Store& store, RunId run, TaskId task);

/// Why a result must be made again; names the first file that is newer. REQUIRES: the fingerprints
/// differ.
Reason what_changed(const Making& before, const Fingerprint& now, const Task& task);

/// Of a success one of whose inputs changed while it ran.
Reason changed_meanwhile(std::string path);

/// Of files that a task has written, the first that is neither here nor kept at a site; empty when
/// all are.
std::string first_missing(const store::Store& store, const std::vector<std::string>& outputs);

}  // namespace gantry::driver
