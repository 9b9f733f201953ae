#pragma once
/// Runs of this state directory that this process does not drive. Records how their tasks have
/// ended, and cancels tasks; starts nothing and invalidates nothing. It works even if a run's study
/// can no longer be read: then only `results:` values are lost. One thread.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "actuate/sites.hpp"
#include "driver/driver.hpp"
#include "engine/engine.hpp"

namespace gantry::driver {

[[nodiscard]] bool is_meant(const store::Request& request, const TaskKey& key);

class UndrivenRuns {
 public:
  /// Both must outlive this. Uses options.state_dir and options.reload.
  UndrivenRuns(store::Store& store, const Options& options) : store_(store), options_(options) {}

  /// Journals an attempt's end in the store's open group, once however often it is reported;
  /// ignores ends of removed runs. Returns why outputs could not be moved to their place: then call
  /// it again before acknowledging the report. With `last`, such a task fails instead.
  Result<std::string> take(ReportReceived& received, const std::string& host_name, TimePoint now,
                           bool last = false);

  /// An agent reports that this attempt runs. It counts as running until take(), returned() or
  /// vanished().
  void started(const TaskKey& key, HostId host) { running_[key] = host; }
  void returned(const TaskKey& key) { running_.erase(key); }
  /// The host has gone. If it comes back, its agent reports what runs there again.
  void vanished(HostId host) {
    std::erase_if(running_, [&](const auto& attempt) { return attempt.second == host; });
  }
  [[nodiscard]] const std::map<TaskKey, HostId>& running() const { return running_; }

  /// Journals that the request's tasks are cancelled, and ends those that run. False if there was
  /// nothing to cancel.
  Result<bool> cancel(const store::Request& request, Sites& sites, TimePoint now);

  /// Whether the store has this run.
  Result<bool> knows(RunId id);
  /// Null if the study cannot be read any more, or there is no such run. Valid until forget().
  Result<const Application*> study(RunId id);
  /// A hub drives the run: what was read of it is no longer so.
  void forget(RunId id) { runs_.erase(id); }

 private:
  struct Run {
    store::RunRecord record;
    engine::Engine journal;  ///< only replays, and never resumes the run
    std::optional<Application> study;
    std::string no_study;  ///< why the study cannot be read
    [[nodiscard]] engine::RunView view() const { return journal.run(record.id); }
  };
  /// Null when there is no such run.
  Result<Run*> find(RunId id);
  Result<Run> load(store::RunRecord record) const;
  Result<> record(Run& run, Event event, TimePoint now);

  store::Store& store_;
  const Options& options_;
  std::map<RunId, std::optional<Run>> runs_;
  std::map<TaskKey, HostId> running_;
};

}  // namespace gantry::driver
