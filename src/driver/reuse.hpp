#pragma once
/// Finds results of other runs in this state directory that hold for the tasks of a new one. One
/// thread.

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
  std::optional<ResultValues> results;  ///< read again by the study's rules; nothing: as stored
};

struct KnownElsewhere {
  std::vector<Match> matches;
  OutdatedTasks outdated;  ///< finished in another run, but not reusable
};

/// Results for the tasks from `first` on: of tasks with the same command, environment and inputs
/// whose outputs still exist. If the study's `results:` differ, the values are read from the stored
/// output and files; if that fails, the task is no match.
Result<KnownElsewhere> known_elsewhere(const store::Store& store, const Application& application,
                                       TaskId first, const Options& options,
                                       ContentCache& contents);

}  // namespace gantry::driver
