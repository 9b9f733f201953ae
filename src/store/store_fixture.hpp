#pragma once
/// For this folder's tests: a directory of the test's own, and events full of odd bytes.

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "base/scratch_dir.hpp"
#include "store/store.hpp"

namespace gantry::store {

/// The value of a Result that must hold one.
template <class T>
T must(Result<T> result) {
  if (!result) throw std::runtime_error(result.error().message);
  return std::move(*result);
}
inline void must(Result<> result) {
  if (!result) throw std::runtime_error(result.error().message);
}

inline Fingerprint print_of(std::uint64_t n) {
  return {Digest{n, 1}, Digest{n, 2}, Digest{n, 0xfedcba9876543210}};
}

/// A success of `task` with plain values.
inline AttemptEnded plain_end(RunId run, std::uint32_t task, std::uint32_t attempt = 1) {
  AttemptEnded e;
  e.report.key = {run, TaskId(task), AttemptId(attempt)};
  e.report.started = from_ns(1'700'000'000'000'000'000);
  e.report.ended = from_ns(1'700'000'001'500'000'000);
  e.report.usage = {Duration(3'000'000), Duration(2'000'000), 4096};
  e.report.out = {3, "ok\n", "", 0, false};
  e.host = HostId(1);
  e.host_name = "here";
  e.parameters = {{"seed", std::to_string(task)}};
  e.results = {{"pi", "3.14"}};
  e.fingerprint = print_of(task);
  return e;
}

class StoreTest : public testing::Test {
 public:
  static RunId new_run(Store& store, std::string name = "study") {
    RunRecord record;
    record.name = std::move(name);
    record.digest = {1, 2};
    record.created = record.updated = from_ns(1000);
    record.counts.total = 10;
    return must(store.create_run(record));
  }

 protected:
  Store open(Access access = Access::read_write) {
    return must(Store::open(directory_.path(), access));
  }
  /// What has happened to the tasks of the run.
  static std::vector<Event> replayed(const Store& store, RunId run) {
    std::vector<Event> events;
    must(store.replay(run, [&](const Event& e) {
      const bool opens = std::holds_alternative<TasksAdded>(e);
      if (!opens && !std::holds_alternative<RunClosed>(e)) events.push_back(e);
    }));
    return events;
  }
  [[nodiscard]] std::filesystem::path file() const { return directory_.path() / "gantry.db"; }

  ScratchDir directory_;
};

}  // namespace gantry::store
