#pragma once
/// The control cycle of all runs on one grid. apply(Event) is the only way their state changes;
/// decide(now) returns what to do next. No I/O, no clock, no threads: the same events at the same
/// times always give the same actions. The real driver and the simulator use it in the same way.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/time.hpp"
#include "engine/run/workload.hpp"
#include "forecast/bookkeeper.hpp"
#include "model/action.hpp"
#include "model/eta.hpp"
#include "model/event.hpp"
#include "model/site_map.hpp"
#include "schedule/scheduler.hpp"

namespace gantry::engine {

struct Policy {
  bool keep_going = false;  ///< do not stop when the first tasks to end have all failed
  std::uint32_t max_fails =
      0;  ///< stop starting tasks after this many have failed for good; 0 = no limit
  /// More hosts may come up later. Tasks that fit no host wait for them; the driver must drain the
  /// run when no future host could run them either (see stranded()).
  bool hosts_may_come = false;
  /// For experiments: this long after the first decide(), forecasts of hosts, links and tasks are
  /// frozen; 0 = never.
  Duration learn_for{0};
};

enum class TaskState : std::uint8_t {
  pending,
  staging,  ///< has a place on a host, but not all its files are at the site yet
  handed_over,
  running,
  waiting,
  done,
  failed,
  cancelled
};

struct Counts {
  std::uint32_t total = 0;
  std::uint32_t pending = 0;
  std::uint32_t staging = 0;
  std::uint32_t handed_over = 0;  ///< with an agent, and not known to have started
  std::uint32_t running = 0;
  std::uint32_t waiting = 0;  ///< for a retry's back-off
  std::uint32_t done = 0;
  std::uint32_t reused = 0;  ///< of done
  std::uint32_t failed = 0;
  std::uint32_t cancelled = 0;
};

using forecast::GivenMemory;

struct Run;

/// Questions about one run. A light handle, valid while its engine has the run. References that it
/// returns are valid until something changes.
class RunView {
 public:
  explicit RunView(const Run& run) : run_(&run) {}

  [[nodiscard]] RunId id() const;
  /// REQUIRES: the task exists.
  [[nodiscard]] TaskState state(TaskId task) const;
  /// Would the end of this attempt count if this host reported it? Not if the attempt has ended
  /// already (a report may come twice), its task is done, or another host has the attempt. Such an
  /// end must be applied, but is not journalled.
  [[nodiscard]] bool awaits(const TaskKey& key, HostId host) const;
  [[nodiscard]] const Counts& counts() const;
  /// Cores that all tasks without a host would use if they ran at once; an estimate if their needs
  /// differ. 0 if no more tasks are started.
  [[nodiscard]] std::uint64_t waiting_cores() const;
  /// Whether the run still has something at the site: attempts that have not ended, tasks that wait
  /// for files, or attempts of unknown end whose task is not done. Looks at all attempts.
  [[nodiscard]] bool uses(SiteId site) const;
  /// Whether the host has attempts that have not ended. REQUIRES: it is up.
  [[nodiscard]] bool uses(HostId host) const;
  /// Whether files may still move between home and the site: a task that has not ended may need a
  /// shared file that is not there yet, or send outputs home.
  [[nodiscard]] bool may_move_files(SiteId site) const;
  /// True if no more tasks will come and nothing runs, waits or will be started. Leftovers must
  /// have ended too.
  [[nodiscard]] bool finished() const;
  /// Why no more tasks are started, or empty: "interrupted", "10 tasks failed (--max-fails 10)",
  /// "task 3 needs 64 cores, the largest host has 2" …
  [[nodiscard]] const std::string& draining() const;
  /// Resources of the tasks that remain when none of them fits any host that is up. Empty while
  /// anything can still run.
  [[nodiscard]] std::vector<Resources> stranded() const;
  /// Why some task that is to be started fits no host: "task 3 needs 64 cores, the largest host has
  /// 2", "task 3 reads 5 GiB of shared files, the largest depot holds 2 GiB". Empty if every task
  /// fits some host. Looks at every task.
  [[nodiscard]] std::string unplaceable() const;
  /// How long the rest will take, judging by what was observed so far.
  [[nodiscard]] Eta eta(TimePoint now) const;
  /// How long a running attempt was expected to take when it started; 0 = not known.
  [[nodiscard]] Duration expected(const TaskKey& key) const;

  // For people who watch.
  // -----------------------------------------------------------------------------------------
  /// The run's observations and forecasts.
  [[nodiscard]] const forecast::Bookkeeper& book() const;
  /// Tasks that wait for their back-off, the soonest first; at most `most`.
  [[nodiscard]] std::vector<std::pair<TaskId, TimePoint>> retries(std::size_t most) const;
  /// The task's resources. If its memory is learnt, the memory that an attempt beginning now would
  /// be given. REQUIRES: the task exists.
  [[nodiscard]] Resources resources(TaskId task) const;
  /// The memory that an attempt was given. REQUIRES: it has not ended.
  [[nodiscard]] GivenMemory given_memory(const TaskKey& key) const;
  /// What happens to a task whose last attempt ran out of memory, for a person. Empty if it did
  /// not, or its memory is not learnt.
  [[nodiscard]] std::string after_memory(TaskId task) const;
  /// The shared files that the task reads, ascending.
  [[nodiscard]] std::vector<FileId> files(TaskId task) const;

 private:
  const Run* run_;
};

class Engine {
 public:
  explicit Engine(SiteMap map = {});
  ~Engine();
  Engine(Engine&&) noexcept;
  Engine& operator=(Engine&&) noexcept;

  /// Adds a run. `weight` is its share of the grid relative to other runs. Without a strategy, it
  /// uses the default of schedule/registry.hpp. REQUIRES: the engine has no run of that number;
  /// weight > 0.
  void add_run(RunId run, Workload workload, Policy policy,
               std::unique_ptr<schedule::Scheduler> strategy = nullptr, double weight = 1);
  /// Forgets the run. REQUIRES: it is finished, or nothing of it was started.
  void remove_run(RunId run);
  [[nodiscard]] bool has_run(RunId run) const;
  /// REQUIRES: has_run(run).
  [[nodiscard]] RunView run(RunId run) const;

  /// The run's state after replaying its journal, for RunRestored. REQUIRES: has_run(run); it has
  /// not been resumed, and nothing but its journal was applied to it.
  [[nodiscard]] RunSnapshot snapshot(RunId run) const;

  /// Events about unknown runs, attempts that have already ended, or tasks that do not exist change
  /// nothing. Neither does news about an attempt from a host that does not have it.
  ///
  /// A task has at most two attempts at once, on different hosts, and only if the strategy wants
  /// it. The first success is its result. The other attempt is then a leftover: it is cancelled,
  /// and its end, whatever it is, only frees its host. If one of the two ends without a result, the
  /// task continues with the other, whose end decides.
  ///
  /// An AttemptStarted that the engine did not ask for is a running attempt found after a restart,
  /// or on a host that was thought to be gone. It is adopted: the task counts as running and is not
  /// started again. A second one is adopted too. If the task is done or already has two attempts,
  /// it is a leftover. Numbers of attempts that have ended are ignored.
  void apply(const Event& event);

  /// What to do now; `now` must not go back. Its time depends on classes, hosts and files, not on
  /// the number of pending tasks (figures: docs/performance.md). One exception: on the first call
  /// for a run whose strategy plans every task, as `best` does, the engine looks at each task once.
  [[nodiscard]] std::vector<Action> decide(TimePoint now);
  /// When decide() wants to be called even if no event arrives (a retry's back-off ends, a strategy
  /// plans anew); kNever if not.
  [[nodiscard]] TimePoint next_wakeup() const;

  // For people who watch. Valid until something changes.
  // -----------------------------------------------------------------------------------------
  /// The hosts that are up, and their attempts; those that drain come last.
  [[nodiscard]] std::span<const schedule::HostLoad> hosts() const;
  /// Shared files at the sites other than home, and on their way there.
  [[nodiscard]] std::span<const schedule::SiteFiles> site_files(TimePoint now);
  /// What was learnt about hosts and links.
  [[nodiscard]] const forecast::GridForecast& seen() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace gantry::engine
