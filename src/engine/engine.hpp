#pragma once
/// The control cycle of all runs on one grid. apply(Event) is the only way their state changes,
/// decide(now) says what to do next. No I/O, no clock, no threads: same events and same times, same
/// actions, always. The real driver and the simulator call it in the same way.

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
      0;  ///< stop starting tasks after so many have failed for good; 0 = no limit
  /// Others than those that are up may come. Tasks that no host can run wait for them, and whoever
  /// drives the run asks to drain when none of those could either: see stranded().
  bool hosts_may_come = false;
  /// For experiments: so long after the first decide() forecasts of hosts, links and tasks stay as
  /// they are, whatever happens; 0 = they never do.
  Duration learn_for{0};
};

enum class TaskState : std::uint8_t {
  pending,
  staging,  ///< has a place on a host, where its files are not all yet
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
  std::uint32_t handed_over = 0;  ///< with an agent, not started as far as we know
  std::uint32_t running = 0;
  std::uint32_t waiting = 0;  ///< for a retry's back-off
  std::uint32_t done = 0;
  std::uint32_t reused = 0;  ///< of done
  std::uint32_t failed = 0;
  std::uint32_t cancelled = 0;
};

using forecast::GivenMemory;

struct Run;

/// What may be asked of one run. A light handle: valid while its engine has the run; what it
/// returns by reference is valid until something changes.
class RunView {
 public:
  explicit RunView(const Run& run) : run_(&run) {}

  [[nodiscard]] RunId id() const;
  /// REQUIRES: the task exists.
  [[nodiscard]] TaskState state(TaskId task) const;
  /// Would the end of this attempt, told by this host, count? Not if it has ended already (a report
  /// may come twice), nor if its task is done, nor if another host was given the attempt: such an
  /// end must be applied, but is no part of the journal.
  [[nodiscard]] bool awaits(const TaskKey& key, HostId host) const;
  [[nodiscard]] const Counts& counts() const;
  /// Cores that the tasks which no host was given yet would use if all of them ran at once: an
  /// estimate where they differ. None when no more are started.
  [[nodiscard]] std::uint64_t waiting_cores() const;
  /// Hosts of the site were given attempts that have not ended, or whose end is not known while
  /// their task is not done. Looks at all there are.
  [[nodiscard]] bool uses(SiteId site) const;
  /// The host was given attempts that have not ended. REQUIRES: it is up.
  [[nodiscard]] bool uses(HostId host) const;
  /// Tasks that have not ended may need a shared file there that is not, or send what they make
  /// from there home.
  [[nodiscard]] bool may_move_files(SiteId site) const;
  /// No more tasks come, and nothing runs, waits or will be started; leftovers have ended, too.
  [[nodiscard]] bool finished() const;
  /// Why no more tasks are started, or empty: "interrupted", "10 tasks failed (--max-fails 10)",
  /// "task 3 needs 64 cores, the largest host has 2" …
  [[nodiscard]] const std::string& draining() const;
  /// Resources of the tasks that remain when none of them fits any host that is up. Empty while
  /// anything can still run.
  [[nodiscard]] std::vector<Resources> stranded() const;
  /// Why some task that is to be started fits no host: "task 3 needs 64 cores, the largest host has
  /// 2", "task 3 reads 5 GiB of shared files, the largest depot holds 2 GiB"; empty when all do.
  /// Looks at every task.
  [[nodiscard]] std::string unplaceable() const;
  /// How long the rest will take, from what was seen so far.
  [[nodiscard]] Eta eta(TimePoint now) const;
  /// How long an attempt that runs was expected to take when it started; 0 = nothing was known.
  [[nodiscard]] Duration expected(const TaskKey& key) const;

  // For people who watch.
  // -----------------------------------------------------------------------------------------
  /// What was learnt, and is expected.
  [[nodiscard]] const forecast::Bookkeeper& book() const;
  /// Tasks whose back-off goes on, the soonest first; so many at most.
  [[nodiscard]] std::vector<std::pair<TaskId, TimePoint>> retries(std::size_t most) const;
  /// What the task needs, and what it may use: its memory, where that is learnt, is what an attempt
  /// that begins now is given. REQUIRES: the task exists.
  [[nodiscard]] Resources resources(TaskId task) const;
  /// Of an attempt that has not ended.
  [[nodiscard]] GivenMemory given_memory(const TaskKey& key) const;
  /// Of a task whose memory is learnt and whose last attempt died of memory: what comes of it, for
  /// people. Empty for others.
  [[nodiscard]] std::string after_memory(TaskId task) const;
  /// The shared files that it reads, ascending.
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

  /// From now on the engine drives this run, too. `weight` is its part of the grid beside those of
  /// other runs. Without a strategy, the default one of schedule/registry.hpp. REQUIRES: no run of
  /// that number; weight > 0.
  void add_run(RunId run, Workload workload, Policy policy,
               std::unique_ptr<schedule::Scheduler> strategy = nullptr, double weight = 1);
  /// Forgets it. REQUIRES: it is finished, or nothing of it was started.
  void remove_run(RunId run);
  [[nodiscard]] bool has_run(RunId run) const;
  /// REQUIRES: has_run(run).
  [[nodiscard]] RunView run(RunId run) const;

  /// What the run's journal has told so far, for RunRestored. REQUIRES: has_run(run), which has not
  /// been resumed yet, and nothing but its journal was applied to it.
  [[nodiscard]] RunSnapshot snapshot(RunId run) const;

  /// Events of runs that the engine does not have, of attempts that have ended already, or of tasks
  /// that do not exist, change nothing; nor does what one host says of an attempt that another one
  /// was given.
  ///
  /// A task has two attempts at once at the most, on different hosts, and only if the strategy
  /// wants it so. The first success is its result; the other attempt is then a leftover: it is
  /// cancelled, and its end, whatever it is, only frees its host. When one of the two ends without
  /// a result, the task goes on with the other: that one's end decides.
  ///
  /// An AttemptStarted that the engine did not ask for is a running attempt found after a restart,
  /// or on a host that was thought to be gone. It is adopted: the task runs, and is not started
  /// beside it. So are both of two. If the task is done, or has two already, it is a leftover.
  /// Numbers of attempts that have ended are old, and change nothing.
  void apply(const Event& event);

  /// What to do now; `now` must not go back. The cost depends on classes, hosts and files, not on
  /// how many tasks are pending (figures: docs/performance.md). One exception: at the first call of
  /// a run whose strategy plans for every task, as `best` does, the engine looks at each task once.
  [[nodiscard]] std::vector<Action> decide(TimePoint now);
  /// When decide() wants to be called even if no event arrives (a retry's back-off ends, a strategy
  /// plans anew); kNever if not.
  [[nodiscard]] TimePoint next_wakeup() const;

  // For people who watch. Valid until something changes.
  // -----------------------------------------------------------------------------------------
  /// The hosts that are up, and what they were given; those that drain come last.
  [[nodiscard]] std::span<const schedule::HostLoad> hosts() const;
  /// What is stored at the sites other than home, and on its way there.
  [[nodiscard]] std::span<const schedule::SiteFiles> site_files(TimePoint now);
  /// What was learnt of hosts and links.
  [[nodiscard]] const forecast::GridForecast& seen() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace gantry::engine
