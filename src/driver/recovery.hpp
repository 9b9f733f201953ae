#pragma once
/// Rebuilds a run's state from its journal: the last snapshot, then the events since. Snapshots are
/// taken only of a replayed run, never while tasks run, so restoring one is the same as replaying
/// all events before it. One thread.

#include <cstdint>
#include <span>

#include "engine/engine.hpp"
#include "model/application.hpp"
#include "store/store.hpp"

namespace gantry::driver {

/// The least number of events for which a snapshot is written: fewer are replayed in milliseconds.
inline constexpr std::uint64_t kWorthASnapshot = 10'000;

struct Recovered {
  store::Prints prints;        ///< fingerprints of the latest successes, by task
  std::uint64_t replayed = 0;  ///< events since the last snapshot
  bool damaged = false;        ///< the stored snapshot could not be used
};

struct DrivenRun {
  RunId run;
  const Application* application = nullptr;
};

/// Restores and replays the run in the engine. REQUIRES: the engine has the run with this many
/// tasks, and nothing has been applied to it.
Result<Recovered> recover(const store::Store& store, engine::Engine& engine, RunId run,
                          std::uint32_t tasks);

/// Stores a snapshot if enough events were replayed that it saves more time than it costs.
/// REQUIRES: `recovered` is what recover() returned for this run, and nothing has been applied to
/// it since.
Result<> keep_if_worth(store::Store& store, const engine::Engine& engine, RunId run,
                       const Recovered& recovered);

/// After a session: replays what it has journalled of these runs, and stores a snapshot of each
/// for which that is worth it.
Result<> keep_snapshots(store::Store& store, std::span<const DrivenRun> runs);

}  // namespace gantry::driver
