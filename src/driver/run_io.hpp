#pragma once
/// One run's side of the hub: its study, what its attempts read and wrote, and how they ended. The
/// engine decides and the hub journals for all runs; questions that only the study can answer come
/// here. Owned by the hub; one thread.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "actuate/launcher.hpp"
#include "driver/content_cache.hpp"
#include "driver/driver.hpp"
#include "driver/run_setup.hpp"
#include "model/sweep_files.hpp"

namespace gantry::driver {

/// `application` must outlive the result.
ContentCache::Study study_of(const Application& application);

/// A study that joined.
struct GuestStudy {
  Application application;
  SpecSource source;
};

/// The files of a run's study. Made before the run, which refers to them all its life.
struct RunFiles {
  std::unique_ptr<GuestStudy> guest{};  ///< the study itself, if nobody else keeps it
  TaskFiles shared{};
  ContentCache::Study study;
};

class RunIo {
 public:
  using Inputs = std::vector<ContentCache::Used>;

  /// All references must outlive this. `stop` returns true when a person wants to stop.
  RunIo(const Job& job, const Options& options, store::Store& store, ContentCache& contents,
        std::unique_ptr<RunFiles> files, const FileNames& names, PreparedRun prepared,
        ContentCache::Stop stop)
      : run(std::move(prepared)),
        job_(job),
        options_(options),
        store_(store),
        contents_(contents),
        files_(std::move(files)),
        names_(names),
        stop_(std::move(stop)) {}

  [[nodiscard]] RunId id() const { return run.id; }
  [[nodiscard]] const Application& application() const { return job_.application; }
  [[nodiscard]] const Job& job() const { return job_; }
  /// The study's folder.
  [[nodiscard]] const std::string& base_dir() const { return job_.source.base_dir; }
  [[nodiscard]] bool has(const TaskKey& key) const {
    return key.run == run.id && key.task.value() <= application().size();
  }

  /// Computes the fingerprint and remembers the attempt's inputs until forget(). Error busy while
  /// an input is being read in the background (see ContentCache::Aside).
  Result<Fingerprint> fingerprint(const TaskKey& key, const Task& task);
  /// The files to send to a host that does not see this machine's files; or error busy. REQUIRES:
  /// fingerprint() has succeeded.
  Result<std::vector<TaskFile>> files(const TaskKey& key);
  /// The files of a shared folder as this run's tasks read it; or error busy. None if they do not.
  Result<std::vector<TaskFile>> shared_folder(FileId folder);
  Inputs forget(const TaskKey& key);

  /// The end of the reported attempt, with the values that `results:` takes from its output.
  [[nodiscard]] AttemptEnded end_of(ReportReceived received, const std::string& host_name);
  /// Whether this process has started the attempt, and has not taken in its end. Another one may
  /// report it at any time, such as when a site can be reached again.
  [[nodiscard]] bool has_started(const TaskKey& key) const { return inputs_.contains(key); }
  /// The same of any attempt of the task.
  [[nodiscard]] bool has_started(TaskId task) const;
  /// Whether the report belongs to an older run with the same number: run numbers begin anew when
  /// somebody moves the database away. Attempts that this process started need no check.
  [[nodiscard]] bool is_of_another_study(const ReportReceived& received) const;
  /// Why the end does not count: inputs may have changed since an earlier gantry started the
  /// attempt. Nothing if it counts. Error busy while an input is being read in the background.
  [[nodiscard]] Result<std::optional<OutdatedReason>> why_stale(const ReportReceived& received);
  /// Marks the end if an input has changed since the start: later runs do not reuse such a result.
  /// False while an input is being read; then call again.
  bool check_inputs(AttemptEnded& ended, const Inputs& inputs);

  PreparedRun run;
  std::map<std::string, std::uint32_t> changed{};  ///< Summary::changed
  std::set<HostId> given{};  ///< hosts at sites that the store lists as having attempts of this run
  TimePoint changed_at = kNever;  ///< the latest event of this call; kNever: none yet
  std::uint32_t executed = 0;     ///< attempts that ended in this call
  std::uint32_t cut = 0;          ///< Summary::cut
  bool is_closed = false;         ///< the store has it as finished

 private:
  /// The shared file that holds this input of the task, if any.
  [[nodiscard]] std::optional<FileId> shared_file(TaskId task, const std::string& path) const;
  /// A file that the task itself has written is no input.
  [[nodiscard]] bool is_own_work(const AttemptEnded& ended, const ContentCache::Used& used) const;

  Job job_;
  const Options& options_;
  store::Store& store_;
  ContentCache& contents_;
  std::unique_ptr<RunFiles> files_;
  const FileNames& names_;
  ContentCache::Stop stop_;
  std::map<TaskKey, Inputs> inputs_;  ///< of attempts that this process has started
};

}  // namespace gantry::driver
