#pragma once
/// What other runs of this state directory know already of the tasks of a new one. One thread.

#include <optional>
#include <vector>

#include "driver/content_cache.hpp"
#include "driver/driver.hpp"
#include "driver/outdated.hpp"

namespace gantry::driver {

/// A task, and a result that another run has for it.
struct Match {
  TaskId task;
  store::Reusable source;
  Fingerprint print;
  std::optional<ResultValues> results;  ///< read anew by the study's rules; nothing: as stored
};

struct KnownElsewhere {
  std::vector<Match> matches;
  OutdatedTasks outdated;  ///< finished once, and not to be reused
};

/// Results of the tasks from `first` on, that is of those that had the same command, environment
/// and inputs, and whose outputs are there. Where
/// the study's `results:` are other ones, they are read from what was printed and written then; if
/// that cannot be done, the task is no match.
Result<KnownElsewhere> known_elsewhere(const store::Store& store, const Sweep& sweep, TaskId first,
                                       const Options& options, ContentCache& contents);

}  // namespace gantry::driver
