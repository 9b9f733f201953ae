#pragma once
/// One run's side of the hub: its study, what its attempts read and made, and what became of them.
/// The engine decides for all runs, the hub journals for all; what only one study can answer is
/// answered here. Owned by the hub; one thread.

#include <cstdint>
#include <functional>
#include <map>
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

class RunIo {
 public:
  using Inputs = std::vector<ContentCache::Used>;

  /// All references must outlive this. `stop`: a person wants to stop, and nobody has heeded it
  /// yet.
  RunIo(const Job& job, const Options& options, store::Store& store, ContentCache& contents,
        const TaskFiles& files, const FileNames& names, PreparedRun prepared,
        ContentCache::Stop stop)
      : run(std::move(prepared)),
        job_(job),
        options_(options),
        store_(store),
        contents_(contents),
        files_(files),
        names_(names),
        stop_(std::move(stop)) {}

  [[nodiscard]] RunId id() const { return run.id; }
  [[nodiscard]] const Sweep& sweep() const { return job_.sweep; }
  [[nodiscard]] const Job& job() const { return job_; }
  /// The study's folder.
  [[nodiscard]] const std::string& base_dir() const { return job_.source.base_dir; }
  [[nodiscard]] bool has(const TaskKey& key) const {
    return key.run == run.id && key.task.value() <= sweep().size();
  }

  /// Looks at what the attempt reads, and remembers it until forget(). Error busy while something
  /// of it is read, as of ContentCache::Aside.
  Result<Fingerprint> fingerprint(const TaskKey& key, const Task& task);
  /// What it reads, for a host that does not see it here; or busy. REQUIRES: fingerprint().
  Result<std::vector<TaskFile>> files(const TaskKey& key);
  Inputs forget(const TaskKey& key);

  /// The end that a report tells, with the values that `results:` takes from it.
  [[nodiscard]] AttemptEnded end_of(ReportReceived received, const std::string& host_name);
  /// Run numbers begin anew when somebody moves the database away, and the agent may still hold
  /// reports of an older run with our number. Those of attempts that we started need no look.
  [[nodiscard]] bool is_of_another_study(const ReportReceived& received) const;
  /// Inputs may have changed since an earlier gantry started it. Nothing when the end counts.
  [[nodiscard]] std::optional<OutdatedReason> why_stale(const AttemptEnded& ended);
  /// A result counts for later runs only if its inputs are what they were when it was started.
  /// False while one of them is read: to be asked again.
  bool check_inputs(AttemptEnded& ended, const Inputs& inputs);

  PreparedRun run;
  std::map<std::string, std::uint32_t> changed{};  ///< Summary::changed
  std::set<TaskKey> adopted{};  ///< run, as the launcher says, and were not started by us
  std::set<HostId> given{};     ///< at sites: the store knows that they have attempts of this run
  std::uint32_t executed = 0;   ///< attempts that ended in this call
  std::uint32_t cut = 0;        ///< Summary::cut
  bool is_closed = false;       ///< the store knows that it is finished

 private:
  /// The name of a file that the task shares with others.
  [[nodiscard]] std::optional<FileId> shared_file(TaskId task, const std::string& path) const;
  /// A file that the task itself has written is no input.
  [[nodiscard]] bool is_own_work(const AttemptEnded& ended, const ContentCache::Used& used) const;

  Job job_;
  const Options& options_;
  store::Store& store_;
  ContentCache& contents_;
  const TaskFiles& files_;
  const FileNames& names_;
  ContentCache::Stop stop_;
  std::map<TaskKey, Inputs> inputs_;  ///< of attempts that we have started
};

}  // namespace gantry::driver
