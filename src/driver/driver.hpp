#pragma once
/// Drives runs: tells the engine what launchers and the person say, journals it, and carries out
/// the engine's decisions. One thread.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "model/application.hpp"
#include "model/eta.hpp"
#include "model/event.hpp"
#include "model/grid.hpp"
#include "schedule/registry.hpp"
#include "store/store.hpp"

namespace gantry::driver {

struct Options {
  std::filesystem::path state_dir;  ///< `.gantry`
  std::filesystem::path job_log{};  ///< a file that the caller writes; empty = none
  std::optional<Grid> grid{};       ///< where tasks may run; without: this machine
  /// Reads the grid file of sites that join a run; if empty, no site can join.
  std::function<Result<Grid>(const std::filesystem::path&)> read_grid{};
  std::uint32_t jobs = 0;       ///< cores of this machine that tasks are packed into; 0 = all
  bool wait = false;            ///< wait while another gantry drives runs of this state directory
  bool fresh = false;           ///< a new run that reuses nothing
  bool keep_going = false;      ///< continue even if everything so far has failed
  std::uint32_t max_fails = 0;  ///< stop starting tasks after this many failures; 0 = no limit
  std::string scheduler{schedule::kDefaultStrategy};  ///< name in the registry
  Duration learn_for{0};   ///< for experiments: freeze forecasts after this time; 0 = never
  bool duplicates = true;  ///< an overdue task may get a second attempt on another host
  /// Continue this run and run only these tasks again, whatever their state (`gantry retry`). 0 =
  /// find the run by the study's digest.
  RunId continue_run{};
  std::vector<TaskId> only;
  bool only_failed = false;  ///< with continue_run: run every failed or cancelled task
  /// Builds the application of a stored run again, to read results of tasks that ended while nobody
  /// drove it. An error if it no longer gives the same tasks. REQUIRES: not empty.
  std::function<Result<Application>(const store::RunRecord&)> reload;
  /// Builds the application of a study that joins while others run; if empty, none can join.
  std::function<Result<Application>(const SpecSource&)> load{};
};

/// A study to run.
struct Job {
  Application& application;  ///< drive() numbers its tasks as in its run
  const SpecSource& source;
  double weight = 1;  ///< its share of the hosts, relative to other jobs
};

/// How one of several runs is getting on.
struct RunProgress {
  RunId run;
  std::string name{};
  store::Counts counts{};
  Eta eta{};
};

/// Progress shown to a person. With several runs, the numbers are sums over all of them; a guest
/// that has ended is none of them any more.
struct Progress {
  RunId run;  ///< the first, if there are several
  store::Counts counts;
  std::uint32_t retrying = 0;  ///< waiting for their back-off
  Duration elapsed{0};
  Eta eta{};
  double tasks_per_second = 0;  ///< over the last seconds
  bool draining = false;
  std::string draining_why;
  std::vector<RunProgress> runs{};  ///< each run, if there are several
};

/// What happens to a task after an attempt has ended.
enum class AfterEnd : std::uint8_t {
  over,         ///< the task is done, has failed or was cancelled
  again,        ///< the attempt failed; the task gets another one
  again_noted,  ///< the same, and the detail of the report says so
};

/// Called from drive(), in its thread. Empty functions are not called.
struct Observer {
  std::function<void(const Progress&)> progress;  ///< about ten times a second
  std::function<void(const AttemptEnded&, AfterEnd)> ended;
  std::function<void(const std::string&)> notice;
  /// Before the run begins, while it waits for tasks of other runs: how many, and for how long so
  /// far. About ten times a second.
  std::function<void(std::uint32_t tasks, Duration)> waiting;
};

/// Why a finished task has to run again.
enum class OutdatedBy : std::uint8_t {
  result,           ///< a result cannot be read from the stored output
  input_meanwhile,  ///< an input changed while it ran
  input_missing,
  input,       ///< an input or the program changed
  input_list,  ///< the same, or an input was added or removed; no single file is to blame
  asked,       ///< a person wants it to run again
  environment,
  output_missing,
  older_gantry,  ///< an older gantry computed the command's digest differently
  unknown,       ///< the fingerprint of the result is not known
};

/// Tasks that had to run again for one reason.
struct Outdated {
  std::uint32_t tasks = 0;
  std::string example{};          ///< what the first of them names, such as a file; may be empty
  std::uint32_t other_names = 0;  ///< tasks that name something else
  std::uint32_t told = 0;         ///< tasks that were already mentioned in a notice
};

struct Summary {
  RunId run;
  store::Counts counts;
  Duration elapsed{0};
  std::uint32_t executed = 0;               ///< attempts that ended in this call
  std::uint32_t unchanged = 0;              ///< tasks that needed no run: done before, or reused
  std::map<OutdatedBy, Outdated> outdated;  ///< why finished tasks had to run again
  /// Inputs whose content changed while tasks ran, each with the number of tasks that read it.
  /// Their results are kept, but not reused.
  std::map<std::string, std::uint32_t> changed;
  std::uint32_t cut = 0;     ///< attempts whose output was cut: only its end could be kept
  bool interrupted = false;  ///< Ctrl-C or too many failures: run again to go on
  std::string why;           ///< reason of the interruption
};

/// Runs (or continues) the studies side by side until nothing is left to do or the person stops it.
/// They share the hosts by weight. Studies that other processes add with `--join` run as well.
/// Returns a summary for each of `jobs`, in their order. Handles SIGINT and SIGTERM while tasks may
/// run: the first drains, the second cancels, the third leaves at once. Before that a signal ends
/// the process, because nothing has been started. `clock` must not go back. REQUIRES: jobs is not
/// empty; options.continue_run is set for a single job only.
Result<std::vector<Summary>> drive(std::span<const Job> jobs, const Options& options,
                                   const Observer& observer, const Clock& clock);

/// Cores that tasks may use on this machine.
std::uint32_t cores_here();

}  // namespace gantry::driver
