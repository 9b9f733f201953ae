#pragma once
/// Runs of this state directory that the process at hand does not drive, as their journals say.
/// Takes in how their tasks have ended since, and lets tasks be cancelled; starts nothing and takes
/// nothing back. Needs no study: one that has changed loses values, not control. One thread.

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

  /// Journals an attempt's end, once however often it is reported, in the store's open group.
  /// Forgets ends of runs that were removed. When what the task made cannot be put in its place, it
  /// says why, and is to be asked again before the report is acknowledged; unless this is the
  /// `last` time, which fails the task.
  Result<std::string> take(ReportReceived& received, const std::string& host_name, TimePoint now,
                           bool last = false);

  /// An agent says that this task runs. It does until take() or returned().
  void started(const TaskKey& key, HostId host) { running_[key] = host; }
  void returned(const TaskKey& key) { running_.erase(key); }
  [[nodiscard]] const std::map<TaskKey, HostId>& running() const { return running_; }

  /// Journals that the request's tasks are cancelled, and ends those that run. False when there was
  /// nothing to cancel.
  Result<bool> cancel(const store::Request& request, Sites& sites, TimePoint now);

  /// The store has such a run.
  Result<bool> knows(RunId id);
  /// Null when it cannot be read any more, or there is no such run. Valid as long as this is.
  Result<const Sweep*> study(RunId id);

 private:
  struct Run {
    store::RunRecord record;
    engine::Engine journal;  ///< replays for ever: it never resumes
    std::optional<Sweep> study;
    std::string no_study;  ///< why there is none
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
