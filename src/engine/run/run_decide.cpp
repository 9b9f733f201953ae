#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "engine/run/run.hpp"

namespace gantry::engine {

using schedule::RefusalReason;

namespace {
/// After so many failures without one success, more of the same would only waste time.
constexpr std::uint32_t kHopeless = 20;
}  // namespace

void Run::begin_turn(TimePoint now, std::vector<Action>& actions) {
  end_replay();
  const TimePoint wakeup = next_wakeup();
  due = wakeup != kNever && wakeup <= now;
  last_decide = now;
  look_back(now);
  take_cancels(actions);
  check_stop_rules();
  if (!starts_tasks()) return;
  renew_needs();
  wake_retries(now);
}

void Run::prepare(const std::optional<PaceChange>& change, std::vector<Action>& actions) {
  launch_staged(actions);
  if (change) {
    changed = true;
    upset = upset || change->upsets_plans;
    const auto mean = run_times().mean();
    const bool worth_moving = grid.working_hosts > 1 && mean && *mean >= kWorthRecalling;
    for (const HostId host : change->slower)
      if (worth_moving) recall(host, actions);
  }
  for (const schedule::HostLoad& load : grid.resting())
    if (grid.hosts.at(load.host->id).takes == HostState::Takes::nothing)
      recall(load.host->id, actions);
}

void Run::end_turn(TimePoint now, std::vector<Action>& actions) {
  if (starts_tasks() && grid.working_hosts > 0) {
    share_with_idle(now, actions);
    check_stuck();
  }
  if (starts_tasks()) return;
  for (const auto& [host, state] : grid.hosts) recall(host, actions);
}

void Run::recall(HostId host, std::vector<Action>& actions) {
  if (!attempts.recall(host)) return;
  RecallQueued wanted{.host = host};
  for (const schedule::Ongoing& given : grid.hosts.at(host).ongoing)
    if (given.run == run_id && given.started == kNever && given.attempt != AttemptId{})
      wanted.keys.push_back({run_id, given.task, given.attempt});
  actions.emplace_back(std::move(wanted));
}

std::size_t Run::ask_strategy(TimePoint now, std::size_t most, std::vector<Action>& actions) {
  changed = false;
  planned_for = grid.changes;
  ask_again = kNever;
  std::size_t started = 0;
  bool more = true;
  while (more) {
    refill();
    const std::size_t some = start_some(now, most - started, actions);
    started += some;
    more = some > 0 && ready.placeable() == 0 && cursor < tasks.size() && started < most;
    // The way from home is free for another file.
    if (std::exchange(redirected, false)) more = true;
  }
  return started;
}

bool Run::may_start() const {
  if (appetite.by_cost || appetite.to_the_end) return true;
  const auto mean = shared_mean();
  return std::ranges::any_of(grid.working(), [&](const schedule::HostLoad& load) {
    return schedule::admits(*load.host, load.load, typical, mean);
  });
}

double Run::typical_charge() const {
  // What is paid by a guess must not weigh for long when run times are known.
  constexpr Duration kGuess = std::chrono::milliseconds(20);
  const double took = seconds(run_times().mean().value_or(others_mean.value_or(kGuess)));
  return std::max(took, 1e-6) * std::max(typical.cores, 1U);
}

void Run::check_stop_rules() {
  const Counts& mine = tasks.selected();
  if (mine.pending + mine.staging + mine.waiting + mine.handed_over == 0)
    return;  // nothing to stop
  if (policy.max_fails > 0 && failed_now >= policy.max_fails)
    drain(fmt::format("{} task{} failed (--max-fails {})", failed_now, failed_now == 1 ? "" : "s",
                      policy.max_fails));
  if (!policy.keep_going && !ever_succeeded && failed_now >= kHopeless)
    drain(fmt::format("the first {} tasks all failed; --keep-going runs the rest anyway",
                      failed_now));
}

bool Run::is_stuck() const {
  const Counts& mine = tasks.selected();
  const bool others_go_on = mine.staging + mine.handed_over + mine.running + mine.waiting > 0;
  return grid.working_hosts > 0 && !ready.empty() && ready.placeable() == 0 && !others_go_on;
}

void Run::check_stuck() {
  if (is_stuck() && !policy.hosts_may_come) drain(why_unplaceable(ready.front()));
}

void Run::wake_retries(TimePoint now) {
  while (const auto task = retries.pop_due(now)) make_pending(*task, true);
}

void Run::refill() {
  // With many hosts more, so that filling them all takes a few plans and not hundreds.
  const std::size_t window = std::max(appetite.ready, grid.hosts.size());
  while (ready.placeable() < window && cursor < tasks.size()) {
    const TaskId task(++cursor);
    const TaskRecord& record = tasks[task];
    if (record.state == TaskState::pending && record.selected)
      ready.push(task, needs_of(task), false);
  }
}

bool Run::has_choice() const {
  if (ready.placeable() > 0) return true;
  return appetite.to_the_end && !(attempts.none() && staged.empty());
}

std::size_t Run::start_some(TimePoint now, std::size_t most, std::vector<Action>& actions) {
  if (!has_choice()) return 0;
  ready.set_share(entitled);
  const auto classes = ready.view();
  const auto& sites = grid.files.view(now);
  const schedule::Ahead beyond{.tasks = tasks.selected().pending -
                                        static_cast<std::uint32_t>(ready.size())};
  const auto plan = strategy->plan({.now = now,
                                    .classes = classes,
                                    .hosts = grid.working(),
                                    .run_times = run_times(),
                                    .ready = ready.placeable(),
                                    .file_bytes = grid.files.bytes(),
                                    .sites = sites,
                                    .refused = refused,
                                    .seen = &book.times().seen(),
                                    .map = &grid.map,
                                    .needs_of = [this](TaskId task) { return needs_of(task); },
                                    .barred = grid.files.any_barred(now),
                                    .accuracy = &book.accuracy(),
                                    .on_time = &book.on_time(),
                                    .upset = std::exchange(upset, false),
                                    .run = run_id,
                                    .turn = most,
                                    .others_mean = others_mean,
                                    .ahead = {&beyond, beyond.tasks > 0 ? 1U : 0U}});
  ask_again = plan.ask_again;
  if (std::exchange(planned_end, plan.ends) != plan.ends)
    planned_blindly = !run_times().expected(1);
  refused.clear();
  const auto carry_out_all = [&](const auto& wanted) {
    for (const auto& each : wanted)
      if (const auto why = carry_out(each, now, actions)) refused.push_back({each, *why});
  };
  std::size_t started = 0;
  for (const schedule::Intent& each : plan.starts) {
    const WhyNot why = started < most ? carry_out(each, now, actions) : RefusalReason::not_its_turn;
    if (why)
      refused.push_back({each, *why});
    else
      ++started;
  }
  carry_out_all(plan.moves);
  carry_out_all(plan.steals);
  carry_out_all(plan.twins);
  changed = changed || !refused.empty();
  return started;
}

Run::WhyNot Run::refuses_all(HostId host) const {
  const HostState* state = grid.find(host);
  if (state == nullptr) return RefusalReason::host_gone;
  if (state->takes != HostState::Takes::work) return RefusalReason::host_draining;
  return std::nullopt;
}

Run::WhyNot Run::refuses_now(const HostState& state, const TaskNeeds& needs, TimePoint now) const {
  if (!schedule::is_free(state.host, state.load, needs.resources)) return RefusalReason::no_room;
  if (!in_time(state.host, needs, now)) return RefusalReason::no_time_left;
  return std::nullopt;
}

Run::WhyNot Run::carry_out(const schedule::Intent& wanted, TimePoint now,
                           std::vector<Action>& actions) {
  if (const WhyNot why = refuses_all(wanted.host)) return why;
  const TaskNeeds* found = ready.needs(wanted.task_class);
  if (found == nullptr) return RefusalReason::class_gone;
  const TaskNeeds needs = *found;
  const HostState& state = grid.hosts.at(wanted.host);
  const Host& there = state.host;
  // Who counts failures wants to stop at the last one that is allowed: nothing is handed over
  // ahead.
  const bool room = policy.max_fails > 0
                        ? schedule::is_free(there, state.load, needs.resources)
                        : schedule::admits(there, state.load, needs.resources, shared_mean());
  if (!room) return RefusalReason::no_room;
  if (!in_time(there, needs, now)) return RefusalReason::no_time_left;
  if (!can_have_files(needs, there.site, Grid::Asker::task, now, actions))
    return RefusalReason::files_cannot_come;
  const TaskId task = *ready.take(wanted.task_class);
  if (workload.learns_memory && resources_of(task) != needs.resources) {
    ready.push(task, needs_of(task), false);  // what was learnt meanwhile; see renew_needs()
    return RefusalReason::needs_changed;
  }
  give(task, there, needs, now, actions);
  return std::nullopt;
}

Run::WhyNot Run::carry_out(const schedule::Steal& wanted, TimePoint now,
                           std::vector<Action>& actions) {
  if (const WhyNot why = refuses_all(wanted.host)) return why;
  const auto place = staged.find(wanted.task);
  const bool is_twin = attempts.has(wanted.task);  // its task runs elsewhere
  if (place == staged.end() || place->second.host == wanted.host || is_twin)
    return RefusalReason::not_waiting;
  const TaskNeeds needs = needs_of(wanted.task);
  const HostState& state = grid.hosts.at(wanted.host);
  if (const WhyNot why = refuses_now(state, needs, now)) return why;
  if (!can_have_files(needs, state.host.site, Grid::Asker::task, now, actions))
    return RefusalReason::files_cannot_come;
  leave_stage(wanted.task);
  give(wanted.task, state.host, needs, now, actions);
  return std::nullopt;
}

Run::WhyNot Run::carry_out(const schedule::Twin& wanted, TimePoint now,
                           std::vector<Action>& actions) {
  if (const WhyNot why = refuses_all(wanted.host)) return why;
  if (!may_have_twin(wanted.task, wanted.host)) return RefusalReason::no_twin_allowed;
  const TaskNeeds needs = needs_of(wanted.task);
  const HostState& state = grid.hosts.at(wanted.host);
  if (const WhyNot why = refuses_now(state, needs, now)) return why;
  // No file that a ready task reads makes way for a second attempt.
  if (!can_have_files(needs, state.host.site, Grid::Asker::other, now, actions))
    return RefusalReason::files_cannot_come;
  give(wanted.task, state.host, needs, now, actions);
  return std::nullopt;
}

bool Run::in_time(const Host& host, const TaskNeeds& needs, TimePoint now) const {
  return schedule::is_in_time(host, needs.resources, run_times().expected(needs.cost), now);
}

bool Run::may_have_twin(TaskId task, HostId host) const {
  const Outstanding* first = attempts.first(task);
  if (first == nullptr || attempts.has_twin(task) || staged.contains(task)) return false;
  return first->host != host && !first->computed && !first->alone;
}

void Run::give(TaskId task, const Host& host, const TaskNeeds& needs, TimePoint now,
               std::vector<Action>& actions) {
  if (grid.files.all_there(needs.files, host.site))
    launch(task, host.id, needs.resources, actions);
  else
    stage(task, host, needs, now, actions);
}

void Run::launch(TaskId task, HostId host, const Resources& resources,
                 std::vector<Action>& actions) {
  TaskRecord& record = tasks.edit(task);
  if (passes_over && passed_over.insert(task).second)
    attempts.pass_over({task, AttemptId(++record.attempt)});
  const AttemptId attempt(++record.attempt);
  typical = resources;
  hand_over({task, attempt}, host, resources);
  if (learns_memory_of(task))
    attempts.find({task, attempt})->memory = book.memory().given(task, resources.memory);
  actions.emplace_back(StartAttempt{key_of({task, attempt}), host, resources});
}

TimePoint Run::next_wakeup() const {
  if (!draining.empty()) return kNever;
  TimePoint first = kNever;
  const TimePoint heed = grid.next_pace_change();
  for (const TimePoint time :
       {retries.next(), grid.files.next_try(last_decide), ask_again, heed, share_again})
    if (time != kNever && (first == kNever || time < first)) first = time;
  return first;
}

bool Run::finished() const {
  const Counts& mine = tasks.selected();
  if (mine.handed_over + mine.running > 0 || attempts.any_leftover()) return false;
  return !draining.empty() || (closed && mine.pending + mine.staging + mine.waiting == 0);
}

}  // namespace gantry::engine
