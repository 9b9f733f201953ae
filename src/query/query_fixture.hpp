#pragma once
/// For tests of queries: a state directory with a store, runs in it, and a live.json.

#include <gtest/gtest.h>

#include <fstream>

#include "base/scratch_dir.hpp"
#include "store/live_state.hpp"
#include "store/store.hpp"

namespace gantry::query {

class QueryTest : public testing::Test {
 protected:
  QueryTest() : store_(store::Store::open(dir_.path(), store::Access::read_write).value()) {}

  RunId create_run(std::uint32_t tasks, const std::string& name = "study") {
    store::RunRecord record;
    record.name = name;
    record.digest = Digest{1, 2};
    record.counts.total = tasks;
    return store_.create_run(record).value();
  }
  store::RunRecord record(RunId run) { return store_.run(run).value().value(); }

  void append(RunId run, const Event& event) {
    ASSERT_TRUE(store_.append(run, event));
    ASSERT_TRUE(store_.commit());
  }
  static AttemptEnded ended(RunId run, std::uint32_t task, std::uint32_t attempt = 1,
                            FailureCause cause = FailureCause::none) {
    AttemptEnded event;
    event.report.key = {run, TaskId{task}, AttemptId{attempt}};
    event.report.cause = cause;
    return event;
  }
  void end(RunId run, std::uint32_t task, std::uint32_t attempt = 1,
           FailureCause cause = FailureCause::none) {
    append(run, ended(run, task, attempt, cause));
  }
  void update(RunId run, store::RunState state, const store::Counts& counts, std::int32_t pid = 0,
              const Eta& eta = {}, TimePoint now = from_ns(9)) {
    ASSERT_TRUE(store_.update_run(run, state, counts, eta, pid, now));
    ASSERT_TRUE(store_.commit());
  }
  /// Writes live.json as a running gantry does; without a lock, it looks as if that gantry was
  /// killed.
  void write_live(const store::LiveState& live) {
    std::ofstream(store::live_path(dir_.path())) << store::live_text(live);
  }

  ScratchDir dir_;
  store::Store store_;
};

/// A run at home and at the site lab, whose host ada has one task that runs (2) and one that has
/// not begun (3), and sends the outputs of a third (4) home.
inline store::LiveState live_example(RunId run) {
  store::LiveState live{.pid = 42, .at = from_ns(1'000'000'000), .run = run.value()};
  live.grid = "grid.yaml";
  live.sites = {{.name = "home", .hosts = 1, .hosts_up = 1}, {.name = "lab", .hosts = 1}};
  live.hosts.push_back({.name = "here", .tasks = {{1, 1, from_ns(500'000'000)}}});
  live.hosts.push_back({.name = "ada",
                        .site = 1,
                        .running = 1,
                        .tasks = {{2, 3, from_ns(500'000'000)}, {3, 1, kNever}},
                        .homeward = 1,
                        .arrivals = {{4, 2, from_ns(600'000'000)}}});
  return live;
}

}  // namespace gantry::query
