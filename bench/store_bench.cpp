// What the journal costs: appending with group commit, replay, the queries behind status, tasks and
// log. CPU time is what counts here; waiting for the disk's sync is not CPU.
#include <benchmark/benchmark.h>
#include <stdlib.h>

#include <filesystem>
#include <stdexcept>
#include <string>

#include "store/store.hpp"

namespace gantry::store {
namespace {

AttemptEnded small_end(RunId run, std::uint32_t task) {
  AttemptEnded e;
  e.report.key = {run, TaskId(task), AttemptId(1)};
  e.report.started = from_ns(1'700'000'000'000'000'000 + task);
  e.report.ended = from_ns(1'700'000'000'001'000'000 + task);
  e.report.usage = {Duration(600'000), Duration(400'000), 3 << 20};
  e.report.out = {14, "result = 3.14\n", "", 0, false};
  e.host = HostId(1);
  e.host_name = "localhost";
  e.parameters = {{"seed", std::to_string(task)}, {"geometry", "a.mdl"}};
  e.results = {{"value", "3.14159"}};
  e.fingerprint = {Digest{task, 1}, Digest{2, 2}, Digest{3, 3}};
  return e;
}

/// A state directory with one run of `tasks` recorded ends.
class Place {
 public:
  explicit Place(std::uint32_t tasks) {
    std::string name = (std::filesystem::temp_directory_path() / "gantry-bench-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp");
    path_ = name;
    Store store = open(Access::read_write);
    RunRecord record;
    record.name = "bench";
    run_ = store.create_run(record).value();
    for (std::uint32_t i = 1; i <= tasks; ++i) {
      if (!store.append(run_, small_end(run_, i))) throw std::runtime_error("append");
      if (i % 10'000 == 0 && !store.commit()) throw std::runtime_error("commit");
    }
    if (!store.commit()) throw std::runtime_error("commit");
  }
  ~Place() { std::filesystem::remove_all(path_); }
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;
  [[nodiscard]] Store open(Access access) const { return Store::open(path_, access).value(); }
  [[nodiscard]] RunId run() const { return run_; }

 private:
  std::filesystem::path path_;
  RunId run_;
};

const Place& large() {
  static const Place place(1'000'000);
  return place;
}

void make_event(benchmark::State& state) {
  std::uint32_t task = 0;
  for (auto _ : state) benchmark::DoNotOptimize(small_end(RunId(1), ++task));
}

/// Argument: events a group. Time is per event, its share of the sync and of making the event (see
/// above) included.
void append_and_commit(benchmark::State& state) {
  const Place place(0);
  Store store = place.open(Access::read_write);
  std::uint32_t task = 0;
  for (auto _ : state) {
    ++task;
    if (!store.append(place.run(), small_end(place.run(), task))) state.SkipWithError("append");
    if (task % state.range(0) != 0) continue;
    static_cast<void>(store.update_run(place.run(), RunState::open, {}, {}, 1, from_ns(task)));
    if (!store.commit()) state.SkipWithError("commit");
  }
}

void replay(benchmark::State& state) {
  const Store store = large().open(Access::read_only);
  std::int64_t rows = 0;
  for (auto _ : state) {
    if (!store.replay(large().run(), [&](const Event&) { ++rows; })) state.SkipWithError("replay");
  }
  state.SetItemsProcessed(rows);
}

void for_each_task(benchmark::State& state) {
  const Store store = large().open(Access::read_only);
  std::int64_t rows = 0;
  for (auto _ : state) {
    if (!store.for_each_task(large().run(), [&](const TaskRow&) { ++rows; }))
      state.SkipWithError("tasks");
  }
  state.SetItemsProcessed(rows);
}

/// What a new run asks: a thousand tasks at a time, of a million.
void earlier_results(benchmark::State& state) {
  Store store = large().open(Access::read_write);
  if (!store.index_results()) state.SkipWithError("index");
  std::vector<Fingerprint> prints;
  for (std::uint32_t i = 1; i <= 1000; ++i)
    prints.push_back(small_end(large().run(), i * 997).fingerprint);
  std::int64_t rows = 0;
  for (auto _ : state) {
    const auto found = store.earlier_results(prints);
    if (!found || !found->front().same) state.SkipWithError("earlier results");
    rows += static_cast<std::int64_t>(prints.size());
  }
  state.SetItemsProcessed(rows);
}

/// What `gantry status` asks, with a million ends recorded.
void open_and_last_run(benchmark::State& state) {
  large();
  for (auto _ : state) {
    if (!large().open(Access::read_only).last_run()) state.SkipWithError("last_run");
  }
}

void one_task(benchmark::State& state) {
  const Store store = large().open(Access::read_only);
  std::uint32_t task = 0;
  for (auto _ : state) {
    task = (task + 7919) % 1'000'000 + 1;
    if (!store.task(large().run(), TaskId(task))) state.SkipWithError("task");
  }
}

void take_no_requests(benchmark::State& state) {
  const Place place(1);
  Store store = place.open(Access::read_write);
  for (auto _ : state) {
    if (!store.take_requests()) state.SkipWithError("requests");
  }
}

BENCHMARK(make_event);
BENCHMARK(append_and_commit)->Arg(1)->Arg(10)->Arg(100)->Arg(1000);
BENCHMARK(take_no_requests);
BENCHMARK(open_and_last_run)->Unit(benchmark::kMillisecond);
BENCHMARK(one_task);
BENCHMARK(replay)->Unit(benchmark::kMillisecond);
BENCHMARK(for_each_task)->Unit(benchmark::kMillisecond);
BENCHMARK(earlier_results)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace gantry::store

BENCHMARK_MAIN();
