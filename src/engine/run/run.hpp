#pragma once
/// One run: its tasks, their attempts, and what it asks of the grid. For the engine's sources only;
/// others use RunView (engine.hpp). Each part keeps its own invariants: TaskTable the counts,
/// Attempts who runs what, ReadyQueue and RetryQueue what is next, the Bookkeeper what is learnt
/// and expected. Run keeps them in step: run_hosts.cpp, run_events.cpp and run_settle.cpp change
/// state, run_decide.cpp acts on it, and run_attempts.cpp and run_files.cpp do both for attempts on
/// hosts and for their files.
///
/// Where a task is: staging ones are in `staged`; handed_over and running ones in `attempts` (a
/// second attempt is there too, or in `staged` while its files travel); waiting ones in `retries`;
/// selected pending ones in `ready` once the cursor has passed them.

#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/engine.hpp"
#include "engine/grid/grid_state.hpp"
#include "engine/run/attempts.hpp"
#include "engine/run/ready_queue.hpp"
#include "engine/run/retry_queue.hpp"
#include "engine/run/task_table.hpp"
#include "forecast/bookkeeper.hpp"

namespace gantry::engine {

/// Shorter tasks are not recalled: they would end before they could start elsewhere.
inline constexpr Duration kWorthRecalling = std::chrono::seconds(1);

/// Loss points at which a task is given up, because its host died again and again.
inline constexpr std::uint8_t kLossLimit = 100;

/// How many ready tasks are sorted again when something was learnt: an event must not take seconds.
inline constexpr std::size_t kSortedAnew = 20'000;

/// A task that holds its place on a host until its files are there.
struct Staged {
  HostId host;
  SiteId site;
  schedule::Load load = 0;
};

struct Run {
  /// The grid must outlive the run.
  Run(RunId run, Grid& where, Workload work, Policy rules,
      std::unique_ptr<schedule::Scheduler> scheduler, double importance);
  // `ready` refers to this object.
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  // run_hosts.cpp, run_events.cpp, run_settle.cpp: what happened.
  // ----------------------------------------------------------------------
  /// A host came, went, or takes no more work. REQUIRES: the grid knows it already.
  void hosts_changed();
  void host_came(HostId host);
  /// The host is about to go: its attempts are lost.
  void lose_host(HostId host);
  void on(const TasksAdded& event);
  void on(const RunClosed& event);
  void on(const RunRestored& event);
  void on(const RunResumed& event);
  void on(const HostsUnheard& event);
  void on(const AttemptStarted& event);
  void on(const AttemptComputed& event);
  void on(const AttemptReturned& event);
  void on(const AttemptEnded& event);
  void on(const TaskReused& event);
  void on(const TaskInvalidated& event);
  void on(const CancelRequested& event);
  void on(const DrainRequested& event);
  void add_tasks(std::uint32_t count);
  void end_replay();
  /// The state that RunRestored restores. REQUIRES: replaying.
  [[nodiscard]] RunSnapshot snapshot() const;

  [[nodiscard]] bool valid(const TaskKey& key) const;
  /// For an attempt that is not outstanding: is a message about it news, or is the attempt long
  /// over?
  [[nodiscard]] bool is_news(const AttemptKey& key) const;
  /// Marks the attempt's number as used; the next attempt gets a higher one.
  void take_number(const AttemptKey& key);
  [[nodiscard]] bool awaits(const TaskKey& key, HostId host) const;
  /// Whether another host has the attempt, as far as is known.
  [[nodiscard]] bool is_elsewhere(const AttemptKey& key, HostId host) const;
  void adopt(const AttemptKey& key, HostId host, TimePoint started);
  /// Whether the end of an attempt that was not known to be outstanding counts.
  [[nodiscard]] bool counts_unasked(const AttemptReport& report, bool newest) const;
  /// One of two attempts has ended without a result: the task continues with the other.
  void go_on_after(const AttemptReport& report, bool was_started);
  void go_on_after_loss(TaskId task, bool was_started);
  /// Removes a pending, staging or waiting task from its queue; the caller sets its new state.
  void leave_queue(TaskId task);
  void make_pending(TaskId task, bool first = false);
  /// Resets the task as if it had never been tried; attempt numbers go on counting.
  void renew(TaskId task);
  void settle(const AttemptReport& report, bool was_started);
  void settle_failure(const AttemptReport& report);
  void settle_lost(TaskId task, bool was_started);
  void add_loss(TaskId task, bool was_started);
  void forgive_loss(TaskId task);
  void settle_crowded(const AttemptReport& report);
  void fail_for_good(TaskId task);
  void cancel(TaskId task);
  void drain(std::string reason);

  // run_attempts.cpp: what hosts were given.
  // -------------------------------------------------------------------------
  /// REQUIRES: the task has fewer than two attempts.
  void hand_over(const AttemptKey& key, HostId host, const Resources& resources);
  /// Makes the attempt occupy its part of the host.
  Outstanding place_on(const AttemptKey& key, HostId host, const Resources& resources);
  void mark_running(TaskId task, Outstanding& attempt, TimePoint at);
  /// Removes the attempt from its host. If it was the task's last one, the caller sets the task's
  /// new state. REQUIRES: attempts.find(key).
  Outstanding release(const AttemptKey& key);
  /// Frees the attempt's place on its host.
  void free_place(TaskId task, const Outstanding& attempt);
  /// Sets the task's state to handed_over or running, as its attempts are.
  void show_state(TaskId task);
  /// The task has its result: its other attempts become leftovers and are cancelled.
  void dismiss_rest(TaskId task);
  void make_leftover(TaskId task, Outstanding attempt);
  /// Removes the attempt if it is a leftover. False if it is not.
  bool drop_leftover(const AttemptKey& key);
  void tell_to_end(TaskId task, Outstanding& attempt);
  void leave_alone(TaskId task, Outstanding& attempt);
  void take_cancels(std::vector<Action>& actions);
  /// The attempt occupies its part of the host, or frees it. Attempt 0: the task waits for its
  /// files.
  void occupy(HostId host, const AttemptKey& key, schedule::Load load);
  void vacate(HostId host, const AttemptKey& key, schedule::Load load);
  /// The shared files that the task reads, if the depot of the host's site has a limit.
  [[nodiscard]] std::vector<FileId> limited_reads(HostId host, TaskId task) const;
  /// nullptr when the host does not have it.
  [[nodiscard]] schedule::Ongoing* find_ongoing(HostId host, const AttemptKey& key) {
    return grid.find_ongoing(host, key_of(key));
  }

  // run_decide.cpp: what to do. Engine::decide() calls these in order.
  // -------------------------------------------------------------------------
  /// Sends cancels, and checks whether the run must stop.
  void begin_turn(TimePoint now, std::vector<Action>& actions);
  /// Starts tasks whose files have arrived, and recalls attempts that wait at hosts that became
  /// slow or take no more work.
  void prepare(const std::optional<PaceChange>& change, std::vector<Action>& actions);
  /// Starts tasks as the strategy wants, at most `most`. Returns how many.
  std::size_t ask_strategy(TimePoint now, std::size_t most, std::vector<Action>& actions);
  void end_turn(TimePoint now, std::vector<Action>& actions);
  /// Whether something happened since the strategy was last asked, or its time has come.
  [[nodiscard]] bool wants_to_plan() const { return due || changed || planned_for != grid.changes; }
  /// Whether some host may take another task of this run. Always true for strategies that plan
  /// ahead.
  [[nodiscard]] bool may_start() const;
  [[nodiscard]] bool starts_tasks() const { return draining.empty(); }
  [[nodiscard]] bool has_more_to_start() const {
    return ready.placeable() > 0 || cursor < tasks.size();
  }
  /// The longest mean run time of all runs that share the hosts.
  [[nodiscard]] std::optional<Duration> shared_mean() const {
    return schedule::longer_mean(run_times().mean(), others_mean);
  }
  /// What the run pays for a start (schedule/share/turns): core seconds, as far as they are known.
  [[nodiscard]] double typical_charge() const;

  void check_stop_rules();
  void check_stuck();
  /// Whether nothing is under way and no host can ever run the remaining tasks.
  [[nodiscard]] bool is_stuck() const;
  void wake_retries(TimePoint now);
  void refill();
  /// If hosts are idle, recalls attempts that wait elsewhere and would end sooner on an idle host.
  void share_with_idle(TimePoint now, std::vector<Action>& actions);
  /// Seconds for a cost of 1 on the fastest idle host.
  [[nodiscard]] std::optional<double> idle_pace(double unit) const;
  [[nodiscard]] bool is_sooner_elsewhere(const schedule::HostLoad& load, double pace_there,
                                         double unit, TimePoint now) const;
  /// Recalls this run's attempts that the host has not begun.
  void recall(HostId host, std::vector<Action>& actions);
  /// Whether there is anything for a strategy to decide.
  [[nodiscard]] bool has_choice() const;
  /// Asks the strategy once for at most `most` tasks. Returns how many were started.
  std::size_t start_some(TimePoint now, std::size_t most, std::vector<Action>& actions);
  // A plan consists of intents: the world may have moved on, and a strategy may be wrong. These
  // return why an intent was refused, or nothing if it was carried out.
  using WhyNot = std::optional<schedule::RefusalReason>;
  WhyNot carry_out(const schedule::Intent& wanted, TimePoint now, std::vector<Action>& actions);
  WhyNot carry_out(const schedule::Steal& wanted, TimePoint now, std::vector<Action>& actions);
  WhyNot carry_out(const schedule::Twin& wanted, TimePoint now, std::vector<Action>& actions);
  /// Sends a file ahead of its tasks. If the depot has no room, nothing happens; that is not a
  /// refusal.
  WhyNot carry_out(const MoveFile& wanted, TimePoint now, std::vector<Action>& actions);
  /// Why the host cannot be given anything, or nothing.
  [[nodiscard]] WhyNot refuses_all(HostId host) const;
  /// Why a host that takes tasks cannot begin one more at once, or nothing.
  [[nodiscard]] WhyNot refuses_now(const HostState& state, const TaskNeeds& needs,
                                   TimePoint now) const;
  [[nodiscard]] bool in_time(const Host& host, const TaskNeeds& needs, TimePoint now) const;
  [[nodiscard]] bool may_have_twin(TaskId task, HostId host) const;
  /// Gives the task to a host that has room: launches it, or stages it if files are missing.
  void give(TaskId task, const Host& host, const TaskNeeds& needs, TimePoint now,
            std::vector<Action>& actions);
  /// Hands over a task whose files are there.
  void launch(TaskId task, HostId host, const Resources& resources, std::vector<Action>& actions);

  // run_files.cpp: shared files.
  // -------------------------------------------------------------------------
  /// Whether every file that is missing at the site is on its way or may be sent.
  [[nodiscard]] bool can_stage(const TaskNeeds& needs, SiteId site, TimePoint now) const;
  void stage(TaskId task, const Host& host, const TaskNeeds& needs, TimePoint now,
             std::vector<Action>& actions);
  /// Gives up the task's place; the caller sets its new state.
  void leave_stage(TaskId task);
  /// Makes staged tasks that meet the condition pending.
  template <class Condition>
  void unstage_if(const Condition& condition);
  void release_waiting_for(FileId file, SiteId site);
  void release_staged_on(HostId host);
  void release_all_staged();
  void launch_staged(std::vector<Action>& actions);
  /// Whether the task's missing files can be sent to the site. Makes room for them.
  bool can_have_files(const TaskNeeds& needs, SiteId site, Grid::Asker asker, TimePoint now,
                      std::vector<Action>& actions);
  /// Why no host can ever run the task; empty when one can.
  [[nodiscard]] std::string why_unplaceable(TaskId task) const;
  [[nodiscard]] TimePoint next_wakeup() const;
  [[nodiscard]] bool finished() const;

  // run_forecast.cpp: what the Bookkeeper is told and asked.
  // -------------------------------------------------------------------------
  /// Tells the Bookkeeper an end that counts. `attempt`: its state before, or empty if it was not
  /// known.
  void observe(const AttemptEnded& event, const Outstanding& attempt);
  void observe(const forecast::Bookkeeper::Ended& attempt);
  /// The Bookkeeper's view of an attempt's end.
  [[nodiscard]] forecast::Bookkeeper::Ended ended(const AttemptReport& report, HostId host) const;
  /// An attempt has ended: scores the forecast of its run time.
  void score(const AttemptEnded& event, Duration expected);
  /// Records the present forecast of the run's end now and then.
  void look_back(TimePoint now);
  [[nodiscard]] Eta eta(TimePoint now) const;
  [[nodiscard]] forecast::OpenRun open_run() const;
  /// Seconds for a cost of 1; nothing when nothing is known.
  [[nodiscard]] std::optional<double> pace_of(const Host& host) const {
    return book.times().pace(host.id, host.speed);
  }
  [[nodiscard]] const forecast::RunTimeForecast& run_times() const {
    return book.times().run_times();
  }
  /// Whether it is the first attempt of a task of this run, not a twin or leftover, so that each
  /// task counts once.
  [[nodiscard]] bool counts_once(const schedule::Ongoing& given) const;
  /// Total cost of the tasks that no host has yet; an estimate.
  [[nodiscard]] double cost_to_start() const;
  /// How many tasks like the last one all hosts can run at once.
  [[nodiscard]] std::uint64_t slots_in_all() const;

  // run_needs.cpp: what tasks need, with memory that is learnt.
  // -------------------------------------------------------------------------
  [[nodiscard]] TaskNeeds needs_of(TaskId task) const;
  /// The declared resources; if its memory is learnt, with the memory that it is given now.
  [[nodiscard]] Resources resources_of(TaskId task) const;
  [[nodiscard]] bool learns_memory_of(TaskId task) const {
    return workload.learns_memory && workload.resources_of(task).learn_memory;
  }
  [[nodiscard]] Resources with_memory(TaskId task, Resources declared) const;
  [[nodiscard]] MemoryRoom memory_room(TaskId task, const Resources& declared) const;
  /// Whether a task that ran out of memory can be given more than it had.
  [[nodiscard]] bool gets_more_memory(TaskId task) const;
  /// Updates the needs of ready tasks after something was learnt, or hosts came or went.
  void renew_needs();
  /// Costs have changed: plans are made anew.
  void use_new_costs();

  [[nodiscard]] TaskKey key_of(const AttemptKey& key) const {
    return {run_id, key.first, key.second};
  }

  RunId run_id;
  Grid& grid;
  Workload workload;
  Policy policy;
  double weight;                          ///< its share of the grid, relative to other runs
  std::optional<Duration> others_mean{};  ///< schedule::World::others_mean
  double entitled = 1;                    ///< the fraction of the grid that it may count on
  std::unique_ptr<schedule::Scheduler> strategy;
  schedule::Appetite appetite;
  bool closed = true;  ///< no more tasks will come
  TimePoint last_decide = kNever;
  bool due = false;          ///< in this decide(): the time that the strategy asked for has come
  bool passes_over = false;  ///< HostsUnheard
  std::set<TaskId> passed_over;    ///< tasks with a skipped attempt number
  bool newcomers = false;          ///< hosts came since the last decide()
  TimePoint shared = kNever;       ///< when share_with_idle() last looked,
  TimePoint share_again = kNever;  ///< and when it looks next
  bool changed = true;  ///< something the strategy depends on has changed since it was asked
  std::uint64_t planned_for = 0;   ///< Grid::changes when the strategy was last asked
  bool upset = false;              ///< so much has changed that the strategy must plan anew
  TimePoint ask_again = kNever;    ///< when the strategy wants to be asked again
  TimePoint planned_end = kNever;  ///< by the strategy's last plan
  bool planned_blindly = false;    ///< the last plan was made before any run time was known
  bool redirected = false;  ///< a file that the plan wanted from home comes from another site
  /// Refused intents of the last plan.
  std::vector<schedule::Refused> refused;

  TaskTable tasks;
  ReadyQueue ready;
  RetryQueue retries;
  std::uint32_t cursor = 0;  ///< tasks 1 .. cursor have been looked at
  Attempts attempts;
  std::map<TaskId, Staged> staged;
  bool files_arrived = false;  ///< files have arrived since the last decide()

  forecast::Bookkeeper book;
  Resources typical;  ///< of the task handed over last
  bool needs_changed = false;

  bool replaying = true;
  std::uint32_t failed_now = 0;  ///< tasks that failed for good in this session
  bool ever_succeeded = false;   ///< in this run, earlier sessions and reused results included
  std::string draining;
};

}  // namespace gantry::engine
