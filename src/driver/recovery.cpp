#include "driver/recovery.hpp"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

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

struct Size {
  RunId run;
  std::uint32_t tasks = 0;
};

/// By run.
Result<std::map<RunId, Recovered>> recover_all(const store::Store& store, engine::Engine& engine,
                                               std::span<const Size> runs) {
  std::map<RunId, Recovered> all;
  std::vector<store::Store::ReplayFrom> since;
  for (const auto& [run, tasks] : runs) {
    Recovered& recovered = all[run];
    TRY_ASSIGN(auto last, usable_snapshot(store, run, tasks, recovered));
    since.push_back({run, last ? last->seq : 0});
    if (last) {
      recovered.prints = std::move(last->content.prints);
      engine.apply(RunRestored{run, std::move(last->content.state)});
    }
    recovered.prints.resize(tasks);
  }
  TRY(store.replay(since, [&](RunId run, const Event& event) {
    engine.apply(event);
    Recovered& recovered = all.at(run);
    store::note_print(event, recovered.prints);
    ++recovered.replayed;
  }));
  return all;
}

}  // namespace

Result<Recovered> recover(const store::Store& store, engine::Engine& engine, RunId run,
                          std::uint32_t tasks) {
  const Size one{run, tasks};
  TRY_ASSIGN(auto all, recover_all(store, engine, std::span(&one, 1)));
  return std::move(all.at(run));
}

Result<> keep_if_worth(store::Store& store, const engine::Engine& engine, RunId run,
                       const Recovered& recovered) {
  const std::uint64_t worth =
      std::max<std::uint64_t>(kWorthASnapshot, recovered.prints.size() / kTasksForAnEvent);
  if (recovered.replayed < worth) return {};
  return store.keep_snapshot(run, {engine.snapshot(run), recovered.prints});
}

Result<> keep_snapshots(store::Store& store, std::span<const DrivenRun> runs) {
  engine::Engine engine;
  std::vector<Size> sizes;
  for (const auto& [run, application] : runs) {
    auto workload = engine::workload_of(*application);
    workload.cost = {};  // no state of a run depends on it, and it takes long to sum up
    engine.add_run(run, std::move(workload), {});
    sizes.push_back({run, application->size()});
  }
  TRY_ASSIGN(const auto all, recover_all(store, engine, sizes));
  for (const auto& [run, recovered] : all) TRY(keep_if_worth(store, engine, run, recovered));
  return {};
}

}  // namespace gantry::driver
