#pragma once
/// A run as its journal leaves it: the last snapshot, and the events since. Snapshots are made of a
/// replayed run only, so that restoring one is the same as replaying all that came before it. One
/// thread.

#include <cstdint>

#include "engine/engine.hpp"
#include "model/sweep.hpp"
#include "store/store.hpp"

namespace gantry::driver {

/// Events that are worth a snapshot: fewer are replayed in a few milliseconds.
inline constexpr std::uint64_t kWorthASnapshot = 10'000;

struct Recovered {
  store::Prints prints;        ///< of the latest successes, by task
  std::uint64_t replayed = 0;  ///< events since the last snapshot
  bool damaged = false;        ///< there was a snapshot that could not be used
};

/// Applies what the journal says of the run. REQUIRES: the engine has the run with so many tasks,
/// and nothing was applied to it.
Result<Recovered> recover(const store::Store& store, engine::Engine& engine, RunId run,
                          std::uint32_t tasks);

/// Keeps a snapshot, if reading the journal takes longer than writing one. REQUIRES: `recovered` is
/// what recover() gave for this run, and nothing was applied to it since.
Result<> keep_if_worth(store::Store& store, const engine::Engine& engine, RunId run,
                       const Recovered& recovered);

/// After a session: reads what it has journalled, and keeps a snapshot if that is worth it.
Result<> keep_snapshot(store::Store& store, const Sweep& sweep, RunId run);

}  // namespace gantry::driver
