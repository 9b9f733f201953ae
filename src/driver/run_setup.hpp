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
#include "driver/shared_inputs.hpp"
#include "engine/engine.hpp"

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

/// The same study's, or options.continue_run; none when a new one is to be made.
Result<std::optional<store::RunRecord>> run_to_continue(const store::Store& store,
                                                        const Sweep& sweep, const Options& options);

/// Continues that run or makes a new one, and adds it to the engine; replays its journal; takes
/// back (and journals that it does) results whose command, environment or inputs have changed;
/// reuses results of other runs. `shared` must outlive the engine's run.
Result<PreparedRun> prepare_run(store::Store& store, engine::Engine& engine, const Job& job,
                                const Options& options, ContentCache& contents, TimePoint now,
                                const SharedInputs& shared);

}  // namespace gantry::driver
