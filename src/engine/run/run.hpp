#pragma once
/// One run: its tasks, their attempts, and what it wants of the grid. For the engine's sources
/// only; others ask through RunView (engine.hpp). run_hosts.cpp, run_events.cpp and run_settle.cpp
/// change state, run_decide.cpp acts on it; run_attempts.cpp keeps what hosts were given,
/// run_files.cpp does both for files, run_memory.cpp for memory that is learnt.
///
/// Where a task is: staging ones are in `staged`; handed_over and running ones in `outstanding`,
/// with a second attempt in `twins`, or in `staged` while that one's files travel; waiting ones in
/// `retries`; pending ones that are selected are in `ready` if the cursor has passed them,
/// otherwise the cursor still comes to them.

#include <deque>
#include <limits>
#include <map>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "engine/engine.hpp"
#include "engine/grid/grid_state.hpp"
#include "engine/run/attempt.hpp"
#include "engine/run/ready_queue.hpp"
#include "engine/run/retry_queue.hpp"
#include "engine/run/task_table.hpp"
#include "forecast/cost_profile.hpp"
#include "forecast/eta_history.hpp"
#include "forecast/grid_forecast.hpp"
#include "forecast/learned_costs.hpp"
#include "forecast/memory_book.hpp"
#include "forecast/played_rest.hpp"
#include "forecast/run_time.hpp"
#include "forecast/run_time_accuracy.hpp"
#include "forecast/run_time_sample.hpp"
#include "forecast/slot_efficiency.hpp"

namespace gantry::engine {

/// Of declared costs.
[[nodiscard]] forecast::CostProfile profile_of(const Workload& workload);

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
  void observe(const AttemptReport& report, HostId host, std::optional<double> begun = {});
  /// Or are forecasts to stay as they are?
  [[nodiscard]] bool learns() const {
    return policy.learn_for <= Duration{0} || began == kNever ||
           last_decide - began < policy.learn_for;
  }
  /// Its forecast has come due.
  void score(const AttemptReport& report, const Outstanding& attempt);
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
  /// Handed over, and what comes of it counts; nullptr if it is not.
  [[nodiscard]] Outstanding* find(const AttemptKey& key);
  [[nodiscard]] const Outstanding* find(const AttemptKey& key) const;
  [[nodiscard]] bool has_twin(TaskId task) const {
    return twins.contains(task) || (staged.contains(task) && outstanding.contains(task));
  }
  /// REQUIRES: the task has not two attempts yet.
  void hand_over(const AttemptKey& key, HostId host, const Resources& resources);
  /// Takes up its part of the host.
  Outstanding place_on(const AttemptKey& key, HostId host, const Resources& resources);
  void mark_running(TaskId task, Outstanding& attempt, TimePoint at);
  /// Its host has it no more. REQUIRES: find(key). Was it running? If it was the task's last one,
  /// the caller gives the task its new state.
  bool release(const AttemptKey& key);
  /// It leaves its host.
  void free_place(TaskId task, const Outstanding& attempt);
  /// What the host has and has not started.
  void count_queued(HostId host, int by);
  /// Forgets what was recalled from the host, which is up anew.
  void reset_queue(HostId host);
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
    return schedule::longer_mean(run_times.mean(), others_mean);
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
  [[nodiscard]] TaskNeeds needs_of(TaskId task) const;
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

  // run_memory.cpp: memory that is learnt.
  // -------------------------------------------------------------------------
  /// What it declares, and the memory that it is given now where that is learnt.
  [[nodiscard]] Resources resources_of(TaskId task) const;
  [[nodiscard]] bool learns_memory_of(TaskId task) const {
    return workload.learns_memory && workload.resources_of(task).learn_memory;
  }
  /// To ask for all tasks.
  [[nodiscard]] bool outputs_are_quick() const;
  [[nodiscard]] Resources with_memory(TaskId task, Resources declared) const;
  [[nodiscard]] MemoryRoom memory_room(TaskId task, const Resources& declared) const;
  /// Of memory, if it is one. `given`: 0 = it is not known.
  void observe_death(const AttemptReport& report, std::uint64_t given);
  void observe_memory(const AttemptReport& report);
  void learn_replayed_memory();
  /// Died of memory: can it be given more than it had?
  [[nodiscard]] bool gets_more_memory(TaskId task) const;
  /// Of a task that succeeded.
  void observe_outputs(const AttemptEnded& event);
  /// What was learnt meanwhile, and hosts that came or went, change what ready tasks need.
  void renew_needs();

  // run_learn.cpp: what tasks cost.
  // ------------------------------------------------------------------------------------
  /// As declared, or else as learnt; 1 when nothing is known.
  [[nodiscard]] double cost_of(TaskId task) const {
    return workload.cost ? workload.cost(task) : learned.cost(task);
  }
  /// Of tasks [index, count) on average.
  [[nodiscard]] double mean_cost_from(std::uint32_t index) const {
    return learned.known() ? learned.mean_from(index) : costs.mean_from(index);
  }
  /// An attempt has ended that was begun.
  void learn(const AttemptReport& report, HostId host, std::optional<double> begun);
  void remember_time(TaskId task, Duration took);
  /// If it is tried again, what it took is part of what its task takes. It says nothing else: one
  /// that fails at once would make its host look fast.
  void learn_death(const AttemptReport& report, HostId host, std::optional<double> begun);
  /// As declared; of a host that is gone 1.
  [[nodiscard]] double declared_speed(HostId host) const;
  /// Of hosts that are gone what was seen counts no more, unless there is nothing else.
  void observe_time(HostId host, TimePoint started, double seconds);
  void forget_gone_samples();
  void learn_launch(const AttemptEnded& event);
  /// Costs are others now: what was seen is counted again, and plans are made anew.
  void use_new_costs();
  void note_quickest(double cost, Duration took);

  // run_eta.cpp: what to expect.
  // ------------------------------------------------------------------------------------
  [[nodiscard]] Eta eta(TimePoint now) const;
  /// Until the first of the jobs that wait in queues comes, if there is nothing else to run on and
  /// that is known.
  [[nodiscard]] std::optional<forecast::QueueWaits::Rest> rest_of_queue(TimePoint now) const;
  /// Seconds for a cost of 1; nothing when nothing is known.
  [[nodiscard]] std::optional<double> pace_of(const Host& host) const;
  /// By what is not known of tasks beyond those that were seen.
  [[nodiscard]] Eta widened(Eta eta) const;
  /// The strategy has told when it all ends.
  [[nodiscard]] bool has_plan(TimePoint now) const {
    return draining.empty() && planned_end != kNever && planned_end > now;
  }
  /// If all that is yet to start were as quick as what was quickest.
  [[nodiscard]] Duration soonest_possible() const;
  /// The last one whose back-off ends has yet to run then; 0 = none.
  [[nodiscard]] Duration until_retried(TimePoint now) const;
  /// How long the rest will take but for back-offs; 0 = not known, or nothing is left. nullptr: by
  /// what hosts were like of late.
  [[nodiscard]] Duration rest(TimePoint now, const LikelyTimes* likely) const;
  /// Seconds that are left of what was given to the host.
  [[nodiscard]] double left_of(const schedule::Ongoing& given, HostId host, double pace,
                               TimePoint now) const;
  [[nodiscard]] Remaining remaining(TimePoint now, const LikelyTimes* likely, double unit) const;
  /// Seconds, by the plan if there is one that can be right.
  [[nodiscard]] double as_planned(double even, TimePoint now) const;
  /// Of the tasks that were to be done when it began.
  [[nodiscard]] double share_done() const;
  /// Remembers what was expected, now and then.
  void look_back(TimePoint now);
  [[nodiscard]] std::optional<Duration> expected(TaskId task, HostId host) const;
  /// Is it the attempt by which a task of this run counts? Not a twin, nor a leftover: a task is
  /// done once.
  [[nodiscard]] bool counts_once(const schedule::Ongoing& given) const;
  /// Of what no host was given yet; an estimate.
  [[nodiscard]] double cost_to_start() const;
  /// How many tasks like the last one run at once.
  [[nodiscard]] std::uint64_t slots_in_all() const;

  // run_played.cpp: what chance does to an end.
  // ------------------------------------------------------------------------------------
  /// What may come of the rest, as run times were seen to differ, and when it is expected to end.
  [[nodiscard]] Eta by_chance(TimePoint now) const;
  /// The same without back-offs.
  [[nodiscard]] Eta played(TimePoint now) const;
  /// Few tasks are left, and the strategy has not told when they end.
  [[nodiscard]] bool is_played(TimePoint now) const;
  /// Nothing when nothing was seen.
  [[nodiscard]] std::optional<LikelyTimes> likely_times() const;
  /// For a cost of 1.
  [[nodiscard]] forecast::RestOfRun rest_of_run(const LikelyTimes& likely, TimePoint now) const;
  /// Of what has not ended; an estimate.
  [[nodiscard]] double mean_open_cost() const;

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
  std::uint32_t cursor = 0;                             ///< tasks 1 .. cursor have been looked at
  std::unordered_map<HostId, HostQueue> queues;         ///< what waits at hosts; never iterated
  std::unordered_map<TaskId, Outstanding> outstanding;  ///< never iterated where the order matters
  std::map<TaskId, Outstanding> twins;                  ///< of tasks in `outstanding`
  /// Attempts of tasks that have their result, from a twin. They keep their place until they end.
  std::map<AttemptKey, Outstanding> leftovers;
  /// Attempts whose end is not known: their host vanished, or a later one was heard of first.
  std::map<AttemptKey, SiteId> missing;
  std::map<TaskId, Staged> staged;
  bool files_arrived = false;       ///< since the last decide()
  std::vector<AttemptKey> cancels;  ///< to cancel at the next decide()

  forecast::RunTimeForecast run_times;
  forecast::GridForecast seen;  ///< the grid's, and how fast hosts do tasks of this run
  forecast::RunTimeAccuracy accuracy;
  std::map<SiteId, TimePoint> on_time;  ///< when an attempt last ended there that was not late
  forecast::SlotEfficiency efficiency;
  forecast::EtaHistory history;
  /// Seconds for a cost of 1, of the task that was done quickest; and of how many.
  double quickest = std::numeric_limits<double>::infinity();
  std::uint32_t timed = 0;
  TimePoint began = kNever;        ///< of the first decide()
  std::uint32_t ended_before = 0;  ///< tasks, then
  forecast::CostProfile costs;     ///< as declared
  forecast::LearnedCosts learned;
  bool costs_known = false;  ///< since they are, ends are foretold by them
  /// What ran of late, by host and in all, to be counted again when costs are others.
  std::map<HostId, std::deque<Ran>> ran_on;
  std::deque<std::pair<TaskId, Duration>> ran;
  std::map<HostId, HostSample> samples;
  /// Seconds, on a host of speed 1, of attempts that died, by tasks that are tried again.
  std::map<TaskId, double> wasted;
  Resources typical;  ///< of the task handed over last

  forecast::MemoryBook memory;
  forecast::LearnedOutputs learned_outputs;
  bool needs_changed = false;
  std::deque<std::pair<TaskId, std::uint64_t>> replayed_memory;  ///< as replayed_times

  bool replaying = true;
  /// The last observations of the replay; calculating a million costs to forget most of them would
  /// be slow.
  std::vector<std::pair<TaskId, Duration>> replayed_times;
  std::size_t replayed_count = 0;
  std::uint32_t failed_now = 0;  ///< tasks that failed for good in this session
  bool ever_succeeded = false;   ///< in this run, earlier sessions and reused results included
  std::string draining;
};

}  // namespace gantry::engine
