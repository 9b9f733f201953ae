#pragma once
/// Drives runs: feeds what launchers and the person say to the engine, journals it, and carries out
/// what the engine decides. One thread.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "model/eta.hpp"
#include "model/event.hpp"
#include "model/grid.hpp"
#include "model/sweep.hpp"
#include "schedule/registry.hpp"
#include "store/store.hpp"

namespace gantry::driver {

struct Options {
  std::filesystem::path state_dir;  ///< `.gantry`
  std::filesystem::path job_log{};  ///< a file that the caller writes; empty = none
  std::optional<Grid> grid{};       ///< where tasks may run; without: this machine
  /// For sites that join while the run goes on; without: none do.
  std::function<Result<Grid>(const std::filesystem::path&)> read_grid{};
  std::uint32_t jobs = 0;       ///< tasks at once (cores to pack into); 0 = one a core
  bool wait = false;            ///< while another gantry drives runs of this state directory
  bool fresh = false;           ///< a new run that reuses nothing
  bool keep_going = false;      ///< also when everything so far has failed
  std::uint32_t max_fails = 0;  ///< stop starting tasks after so many failures; 0 = no limit
  std::string scheduler{schedule::kDefaultStrategy};  ///< by its name in the registry
  Duration learn_for{0};   ///< then forecasts stay as they are, for experiments; 0 = never
  bool duplicates = true;  ///< a task that takes unusually long may run on another host, too
  /// Continue this run and only run these tasks again, whatever their state (`gantry retry`). 0 =
  /// by digest.
  RunId continue_run{};
  std::vector<TaskId> only;
  bool only_failed = false;  ///< with continue_run: every failed or cancelled task
  /// Builds the sweep of another run again, to read the results of tasks that ended while nobody
  /// drove it. An error when it does not give the same tasks any more. REQUIRES: not empty.
  std::function<Result<Sweep>(const store::RunRecord&)> reload;
  /// Builds the sweep of a study that joins while others run; without: none may.
  std::function<Result<Sweep>(const SpecSource&)> load{};
};

/// A study to run.
struct Job {
  Sweep& sweep;  ///< its tasks are numbered as the run does, where values were added to it
  const SpecSource& source;
  double weight = 1;  ///< its part of the hosts, beside those of other jobs
};

/// How one of several runs is getting on.
struct RunProgress {
  RunId run;
  std::string name{};
  store::Counts counts{};
  Eta eta{};
};

/// What a person sees while runs go on. Of several runs: all their tasks together.
struct Progress {
  RunId run;  ///< of several the first
  store::Counts counts;
  std::uint32_t retrying = 0;  ///< waiting for their back-off
  Duration elapsed{0};
  Eta eta{};
  double tasks_per_second = 0;  ///< over the last seconds
  bool draining = false;
  std::string draining_why;
  std::vector<RunProgress> runs{};  ///< each of them, when there are several
};

/// What comes of a task after an attempt of it.
enum class AfterEnd : std::uint8_t {
  over,         ///< the task is done, has failed or was cancelled
  again,        ///< the attempt failed; the task goes on with another one
  again_noted,  ///< likewise, and the detail of the report says so
};

/// Called from drive(), in its thread. Empty functions are not called.
struct Observer {
  std::function<void(const Progress&)> progress;  ///< about ten times a second
  std::function<void(const AttemptEnded&, AfterEnd)> ended;
  std::function<void(const std::string&)> notice;
  /// Before the run begins: so many tasks of other runs are waited for, for so long. About ten
  /// times a second.
  std::function<void(std::uint32_t tasks, Duration)> waiting;
};

/// Why a finished task has to run again.
enum class OutdatedBy : std::uint8_t {
  result,           ///< a result cannot be had from what is stored
  input_meanwhile,  ///< an input changed while it ran
  input_missing,
  input,       ///< an input or the program changed
  input_list,  ///< the same, or one was added or left out: no file tells which
  asked,       ///< a person wants it to run again
  environment,
  output_missing,
  older_gantry,  ///< which has digested the same command otherwise
  unknown,       ///< what it was made from is not known
};

/// Tasks that had to run again for one reason.
struct Outdated {
  std::uint32_t tasks = 0;
  std::string example{};          ///< what the first of them names, such as a file; may be empty
  std::uint32_t other_names = 0;  ///< tasks that name something else
  std::uint32_t told = 0;         ///< tasks that a notice has told of
};

struct Summary {
  RunId run;
  store::Counts counts;
  Duration elapsed{0};
  std::uint32_t executed = 0;               ///< attempts that ended in this call
  std::uint32_t unchanged = 0;              ///< tasks that needed no run: done before, or reused
  std::map<OutdatedBy, Outdated> outdated;  ///< why finished tasks had to run again
  /// Inputs whose content changed while tasks ran, and how many tasks for which that counts: their
  /// results are kept, and not reused.
  std::map<std::string, std::uint32_t> changed;
  std::uint32_t cut = 0;     ///< attempts of whose output only the end could be kept
  bool interrupted = false;  ///< Ctrl-C or too many failures: run again to go on
  std::string why;           ///< of the interruption
};

/// Runs (or continues) the studies at once until nothing is left to do or the person stops it; they
/// share hosts by their weights. Studies that other processes ask for meanwhile run as well. A
/// summary for each of `jobs`, in their order. While tasks may run it handles
/// SIGINT and SIGTERM: once drains, twice cancels, three times leaves at once. Before that they end
/// the process, as nothing has been started. `clock` must not go back. REQUIRES: jobs is not empty;
/// of several none is given options.continue_run.
Result<std::vector<Summary>> drive(std::span<const Job> jobs, const Options& options,
                                   const Observer& observer, const Clock& clock);

/// Cores that tasks may use on this machine.
std::uint32_t cores_here();

}  // namespace gantry::driver
