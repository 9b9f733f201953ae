#pragma once
/// One run: its tasks, their attempts, and what it wants of the grid. For the engine's sources
/// only; others ask through RunView (engine.hpp). Each part keeps its own invariants: TaskTable the
/// counts, Attempts who runs what, ReadyQueue and RetryQueue what is next, the Bookkeeper what is
/// learnt and expected. Run keeps them in step: run_hosts.cpp, run_events.cpp and run_settle.cpp
/// change state, run_decide.cpp acts on it, run_attempts.cpp and run_files.cpp do both for what
/// hosts were given.
///
/// Where a task is: staging ones are in `staged`; handed_over and running ones in `attempts`, with
/// a second attempt there or in `staged` while that one's files travel; waiting ones in `retries`;
/// pending ones that are selected are in `ready` if the cursor has passed them, otherwise the
/// cursor still comes to them.

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

/// Shorter tasks are over before they were elsewhere.
inline constexpr Duration kWorthRecalling = std::chrono::seconds(1);

/// A task whose host dies under it again and again is given up.
inline constexpr std::uint8_t kLossLimit = 100;

/// Of ready tasks, that are looked at when something was learnt: an event must not take seconds.
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
  /// A host came, went, or takes no more work: after the grid knows.
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
  /// What RunRestored brings back. REQUIRES: replaying.
  [[nodiscard]] RunSnapshot snapshot() const;

  [[nodiscard]] bool valid(const TaskKey& key) const;
  /// An attempt that is not outstanding: is this news of it, rather than of one that is long over?
  [[nodiscard]] bool is_news(const AttemptKey& key) const;
  /// It is news no more; higher numbers are used next.
  void take_number(const AttemptKey& key);
  [[nodiscard]] bool awaits(const TaskKey& key, HostId host) const;
  /// It was given to another host, as far as is known.
  [[nodiscard]] bool is_elsewhere(const AttemptKey& key, HostId host) const;
  void adopt(const AttemptKey& key, HostId host, TimePoint started);
  /// News of the end of an attempt that was not known to be outstanding: does it count?
  [[nodiscard]] bool counts_unasked(const AttemptReport& report, bool newest) const;
  /// One of two attempts has ended without a result: the task goes on with the other.
  void go_on_after(const AttemptReport& report, bool was_started);
  void go_on_after_loss(TaskId task, bool was_started);
  /// Takes a pending, staging or waiting task out of where it is; the caller gives it its new
  /// state.
  void leave_queue(TaskId task);
  void make_pending(TaskId task, bool first = false);
  /// As if the task had never been tried, but for the attempt numbers.
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
  /// REQUIRES: the task has not two attempts yet.
  void hand_over(const AttemptKey& key, HostId host, const Resources& resources);
  /// Takes up its part of the host.
  Outstanding place_on(const AttemptKey& key, HostId host, const Resources& resources);
  void mark_running(TaskId task, Outstanding& attempt, TimePoint at);
  /// Its host has it no more. REQUIRES: attempts.find(key). If it was the task's last one, the
  /// caller gives the task its new state.
  Outstanding release(const AttemptKey& key);
  /// It leaves its host.
  void free_place(TaskId task, const Outstanding& attempt);
  /// Handed over or running, as its attempts are.
  void show_state(TaskId task);
  /// The task has its result: what else was begun for it is to end, and counts no more.
  void dismiss_rest(TaskId task);
  void make_leftover(TaskId task, Outstanding attempt);
  /// Is it one? Then it is gone.
  bool drop_leftover(const AttemptKey& key);
  void tell_to_end(TaskId task, Outstanding& attempt);
  void leave_alone(TaskId task, Outstanding& attempt);
  void take_cancels(std::vector<Action>& actions);
  /// The attempt takes up its part of the host, or leaves it; attempt 0: its files travel.
  void occupy(HostId host, const AttemptKey& key, schedule::Load load);
  void vacate(HostId host, const AttemptKey& key, schedule::Load load);
  /// The files that the task reads, where the host's depot has to count them.
  [[nodiscard]] std::vector<FileId> limited_reads(HostId host, TaskId task) const;
  /// nullptr when the host does not have it.
  [[nodiscard]] schedule::Ongoing* find_ongoing(HostId host, const AttemptKey& key) {
    return grid.find_ongoing(host, key_of(key));
  }

  // run_decide.cpp: what to do. Engine::decide() calls these in order.
  // -------------------------------------------------------------------------
  /// Cancels, and whether to stop.
  void begin_turn(TimePoint now, std::vector<Action>& actions);
  /// Starts tasks whose files have arrived, and takes back what waits at hosts that became slow or
  /// take no more work.
  void prepare(const std::optional<PaceChange>& change, std::vector<Action>& actions);
  /// Starts tasks as the strategy wants; how many.
  std::size_t ask_strategy(TimePoint now, std::size_t most, std::vector<Action>& actions);
  void end_turn(TimePoint now, std::vector<Action>& actions);
  /// Something happened that the strategy has not been asked about, or its time has come.
  [[nodiscard]] bool wants_to_plan() const { return due || changed || planned_for != grid.changes; }
  /// May some host take another task of this run? Of those that plan ahead, always.
  [[nodiscard]] bool may_start() const;
  [[nodiscard]] bool starts_tasks() const { return draining.empty(); }
  [[nodiscard]] bool has_more_to_start() const {
    return ready.placeable() > 0 || cursor < tasks.size();
  }
  /// Of all runs that share the hosts.
  [[nodiscard]] std::optional<Duration> shared_mean() const {
    return schedule::longer_mean(run_times().mean(), others_mean);
  }
  /// What a start counts for shares: core seconds, as far as they are known.
  [[nodiscard]] double typical_charge() const;

  void check_stop_rules();
  void check_stuck();
  /// Nothing goes on, and no host can ever run what is left.
  [[nodiscard]] bool is_stuck() const;
  void wake_retries(TimePoint now);
  void refill();
  /// Hosts have nothing to do: what waits behind others' tasks is asked for, if it would be done
  /// sooner there.
  void share_with_idle(TimePoint now, std::vector<Action>& actions);
  /// Seconds for a cost of 1 on the fastest host that has nothing to do.
  [[nodiscard]] std::optional<double> idle_pace(double unit) const;
  [[nodiscard]] bool is_sooner_elsewhere(const schedule::HostLoad& load, double pace_there,
                                         double unit, TimePoint now) const;
  /// Asks for what the host was given by this run and has not begun.
  void recall(HostId host, std::vector<Action>& actions);
  /// Is there anything that a strategy could decide?
  [[nodiscard]] bool has_choice() const;
  /// Asks the strategy once for so many tasks at the most; how many were started.
  std::size_t start_some(TimePoint now, std::size_t most, std::vector<Action>& actions);
  // A plan is intents: the world may have moved on, and a strategy may be wrong. Nothing: done.
  using WhyNot = std::optional<schedule::RefusalReason>;
  WhyNot carry_out(const schedule::Intent& wanted, TimePoint now, std::vector<Action>& actions);
  WhyNot carry_out(const schedule::Steal& wanted, TimePoint now, std::vector<Action>& actions);
  WhyNot carry_out(const schedule::Twin& wanted, TimePoint now, std::vector<Action>& actions);
  /// Ahead of the tasks. Where the depot has no room nothing happens, and that is no refusal.
  WhyNot carry_out(const MoveFile& wanted, TimePoint now, std::vector<Action>& actions);
  /// Why the host cannot be given anything.
  [[nodiscard]] WhyNot refuses_all(HostId host) const;
  /// Why a host that takes tasks cannot begin one more at once.
  [[nodiscard]] WhyNot refuses_now(const HostState& state, const TaskNeeds& needs,
                                   TimePoint now) const;
  [[nodiscard]] bool in_time(const Host& host, const TaskNeeds& needs, TimePoint now) const;
  [[nodiscard]] bool may_have_twin(TaskId task, HostId host) const;
  /// To a host that has room: launches, or stages.
  void give(TaskId task, const Host& host, const TaskNeeds& needs, TimePoint now,
            std::vector<Action>& actions);
  /// Hands a task over whose files are there.
  void launch(TaskId task, HostId host, const Resources& resources, std::vector<Action>& actions);

  // run_files.cpp: shared files.
  // -------------------------------------------------------------------------
  /// What is not at the site is on its way or may be sent.
  [[nodiscard]] bool can_stage(const TaskNeeds& needs, SiteId site, TimePoint now) const;
  void stage(TaskId task, const Host& host, const TaskNeeds& needs, TimePoint now,
             std::vector<Action>& actions);
  /// The caller gives the task its new state.
  void leave_stage(TaskId task);
  /// Those that fulfil the condition become pending.
  template <class Condition>
  void unstage_if(const Condition& condition);
  void release_waiting_for(FileId file, SiteId site);
  void release_staged_on(HostId host);
  void release_all_staged();
  void launch_staged(std::vector<Action>& actions);
  /// What of a task's files is not at the site can be sent there, and room is made for it.
  bool can_have_files(const TaskNeeds& needs, SiteId site, Grid::Asker asker, TimePoint now,
                      std::vector<Action>& actions);
  /// Why no host can ever run the task; empty when one can.
  [[nodiscard]] std::string why_unplaceable(TaskId task) const;
  [[nodiscard]] TimePoint next_wakeup() const;
  [[nodiscard]] bool finished() const;

  // run_forecast.cpp: what the bookkeeper is told and asked.
  // -------------------------------------------------------------------------
  /// An attempt has ended whose end counts. `attempt`: as it was, or empty if it was not known.
  void observe(const AttemptEnded& event, const Outstanding& attempt);
  void observe(const forecast::Bookkeeper::Ended& attempt);
  /// What the bookkeeper is told of the end of any attempt.
  [[nodiscard]] forecast::Bookkeeper::Ended ended(const AttemptReport& report, HostId host) const;
  /// The forecast of an attempt has come due.
  void score(const AttemptEnded& event, Duration expected);
  /// Remembers what was expected, now and then.
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
  /// Is it the attempt by which a task of this run counts? Not a twin, nor a leftover: a task is
  /// done once.
  [[nodiscard]] bool counts_once(const schedule::Ongoing& given) const;
  /// Of what no host was given yet; an estimate.
  [[nodiscard]] double cost_to_start() const;
  /// How many tasks like the last one run at once.
  [[nodiscard]] std::uint64_t slots_in_all() const;

  // run_needs.cpp: what tasks need, with memory that is learnt.
  // -------------------------------------------------------------------------
  [[nodiscard]] TaskNeeds needs_of(TaskId task) const;
  /// What it declares, and the memory that it is given now where that is learnt.
  [[nodiscard]] Resources resources_of(TaskId task) const;
  [[nodiscard]] bool learns_memory_of(TaskId task) const {
    return workload.learns_memory && workload.resources_of(task).learn_memory;
  }
  [[nodiscard]] Resources with_memory(TaskId task, Resources declared) const;
  [[nodiscard]] MemoryRoom memory_room(TaskId task, const Resources& declared) const;
  /// Died of memory: can it be given more than it had?
  [[nodiscard]] bool gets_more_memory(TaskId task) const;
  /// What was learnt meanwhile, and hosts that came or went, change what ready tasks need.
  void renew_needs();
  /// Costs are others now: plans are made anew.
  void use_new_costs();

  [[nodiscard]] TaskKey key_of(const AttemptKey& key) const {
    return {run_id, key.first, key.second};
  }

  RunId run_id;
  Grid& grid;
  Workload workload;
  Policy policy;
  double weight;                          ///< its part of the grid, beside those of other runs
  std::optional<Duration> others_mean{};  ///< schedule::World::others_mean
  double entitled = 1;                    ///< the part of the grid that it may count on
  std::unique_ptr<schedule::Scheduler> strategy;
  schedule::Appetite appetite;
  bool closed = true;  ///< no more tasks will come
  TimePoint last_decide = kNever;
  bool due = false;                ///< in this decide(): it asked to be called by now
  bool passes_over = false;        ///< HostsUnheard
  std::set<TaskId> passed_over;    ///< tasks whose number was
  bool newcomers = false;          ///< hosts came since decide()
  TimePoint shared = kNever;       ///< when it was looked for what idle hosts could do,
  TimePoint share_again = kNever;  ///< and will be
  bool changed = true;             ///< what a strategy decides by, since it was asked
  std::uint64_t planned_for = 0;   ///< Grid::changes when it was asked
  bool upset = false;              ///< so much that the strategy is to plan anew
  TimePoint ask_again = kNever;    ///< the strategy
  TimePoint planned_end = kNever;  ///< by the strategy's last plan
  bool planned_blindly = false;    ///< when nothing was known of how long tasks take
  bool redirected = false;         ///< a file that it wanted from home comes from another site
  /// Of its last plan.
  std::vector<schedule::Refused> refused;

  TaskTable tasks;
  ReadyQueue ready;
  RetryQueue retries;
  std::uint32_t cursor = 0;  ///< tasks 1 .. cursor have been looked at
  Attempts attempts;
  std::map<TaskId, Staged> staged;
  bool files_arrived = false;  ///< since the last decide()

  forecast::Bookkeeper book;
  Resources typical;  ///< of the task handed over last
  bool needs_changed = false;

  bool replaying = true;
  std::uint32_t failed_now = 0;  ///< tasks that failed for good in this session
  bool ever_succeeded = false;   ///< in this run, earlier sessions and reused results included
  std::string draining;
};

}  // namespace gantry::engine
