#pragma once
/// Before the first task of a call of drive(): which run it is, what its journal says, and what of
/// it still holds.

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
  bool is_new = false;                 ///< it was made now
  std::uint32_t unchanged = 0;         ///< tasks that need no run
  OutdatedTasks outdated{};            ///< Summary::outdated
  std::vector<std::string> notices{};  ///< for a person
  /// Hosts at sites that an earlier gantry gave work to, and that were not heard of since: nobody
  /// knows what runs there.
  std::set<store::SiteHost> unheard{};
};

/// A run of the state directory that this call goes on with.
struct ContinuedRun {
  store::RunRecord record;
  /// The person has edited the study since: so many tasks it had before.
  std::optional<std::uint32_t> edited{};
};

/// The run of options.continue_run, or of the same study, also when values were added to it since;
/// none when a new one is to be made. Numbers the tasks of the sweep as that run does: what it has
/// keeps its numbers, what was added follows.
Result<std::optional<ContinuedRun>> run_to_continue(const store::Store& store, Sweep& sweep,
                                                    const Options& options);

/// Continues that run or makes a new one, and adds it to the engine; replays its journal; takes
/// back (and journals that it does) results whose command, environment or inputs have changed;
/// reuses results of other runs. `files` must outlive the engine's run.
Result<PreparedRun> prepare_run(store::Store& store, engine::Engine& engine, const Job& job,
                                const std::optional<ContinuedRun>& ours, const Options& options,
                                ContentCache& contents, TimePoint now, const TaskFiles& files);

}  // namespace gantry::driver
