#pragma once
/// Prepares a run before its first task starts: finds it or makes it, replays its journal, and
/// checks which results still hold. One thread.

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "driver/content_cache.hpp"
#include "driver/driver.hpp"
#include "driver/outdated.hpp"
#include "engine/engine.hpp"
#include "model/sweep_files.hpp"

namespace gantry::driver {

struct PreparedRun {
  RunId id;
  bool is_new = false;                 ///< it was created by this call
  std::uint32_t unchanged = 0;         ///< tasks that need no run
  OutdatedTasks outdated{};            ///< Summary::outdated
  std::vector<std::string> notices{};  ///< for a person
  /// Hosts at sites that an earlier gantry gave work to and that have not answered since. Attempts
  /// may still run there.
  std::set<store::SiteHost> unheard{};
};

/// A run of the state directory that this call continues.
struct ContinuedRun {
  store::RunRecord record;
  /// If the study has been edited since: how many tasks the run had before.
  std::optional<std::uint32_t> edited{};
};

/// The run of options.continue_run, or a run of the same study, to which values may have been added
/// since. Nothing if a new run is needed. Numbers the application's tasks as in that run: existing
/// tasks keep their numbers, added ones follow.
Result<std::optional<ContinuedRun>> run_to_continue(const store::Store& store,
                                                    Application& application,
                                                    const Options& options);

/// Continues that run or makes a new one, adds it to the engine and replays its journal.
/// Invalidates results whose command, environment or inputs have changed, and journals that. Reuses
/// results of other runs. `files` must outlive the engine's run.
Result<PreparedRun> prepare_run(store::Store& store, engine::Engine& engine, const Job& job,
                                const std::optional<ContinuedRun>& ours, const Options& options,
                                ContentCache& contents, TimePoint now, const TaskFiles& files);

}  // namespace gantry::driver
