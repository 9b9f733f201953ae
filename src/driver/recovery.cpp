#include "driver/recovery.hpp"

#include <algorithm>
#include <utility>

namespace gantry::driver {

namespace {

/// A snapshot has eight bytes for each task: it is written when a tenth of them has news.
constexpr std::uint64_t kTasksForAnEvent = 10;

using LastSnapshot = std::optional<store::Store::Snapshot>;

/// Notes in `recovered` when there is one that is of no use.
Result<LastSnapshot> usable_snapshot(const store::Store& store, RunId run, std::uint32_t tasks,
                                     Recovered& recovered) {
  auto last = store.snapshot(run);
  const bool corrupt = !last && last.error().code == ErrorCode::corrupt;
  const bool too_large = last && *last && (*last)->content.state.tasks.size() > tasks;
  recovered.damaged = corrupt || too_large;
  return recovered.damaged ? LastSnapshot{} : std::move(last);
}

}  // namespace

Result<Recovered> recover(const store::Store& store, engine::Engine& engine, RunId run,
                          std::uint32_t tasks) {
  Recovered recovered;
  TRY_ASSIGN(auto last, usable_snapshot(store, run, tasks, recovered));
  if (last) {
    recovered.prints = std::move(last->content.prints);
    engine.apply(RunRestored{run, std::move(last->content.state)});
  }
  recovered.prints.resize(tasks);
  TRY(store.replay(
      run,
      [&](const Event& event) {
        engine.apply(event);
        store::note_print(event, recovered.prints);
        ++recovered.replayed;
      },
      last ? last->seq : 0));
  return recovered;
}

Result<> keep_if_worth(store::Store& store, const engine::Engine& engine, RunId run,
                       const Recovered& recovered) {
  const std::uint64_t worth =
      std::max<std::uint64_t>(kWorthASnapshot, recovered.prints.size() / kTasksForAnEvent);
  if (recovered.replayed < worth) return {};
  return store.keep_snapshot(run, {engine.snapshot(run), recovered.prints});
}

Result<> keep_snapshot(store::Store& store, const Application& application, RunId run) {
  engine::Engine engine;
  auto workload = engine::workload_of(application);
  workload.cost = {};  // no state of a run depends on it, and it takes long to sum up
  engine.add_run(run, std::move(workload), {});
  TRY_ASSIGN(const auto recovered, recover(store, engine, run, application.size()));
  return keep_if_worth(store, engine, run, recovered);
}

}  // namespace gantry::driver
