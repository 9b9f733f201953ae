#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "engine/engine_impl.hpp"

namespace gantry::engine {

using schedule::RefusalReason;

namespace {
/// So many failures and not one success: more of the same would only waste time.
constexpr std::uint32_t kHopeless = 20;
/// Loads that change all the time are heeded so often.
constexpr Duration kLoadsRest = std::chrono::seconds(10);
/// A plan holds when fewer than one in so many cores has changed.
constexpr std::uint64_t kFewCores = 10;
}  // namespace

std::vector<Action> Engine::Impl::decide(TimePoint now) {
  end_replay();
  const TimePoint wakeup = next_wakeup();
  const bool due = wakeup != kNever && wakeup <= now;
  last_decide = now;
  if (learns()) seen.pass(now);
  look_back(now);
  std::vector<Action> actions;
  take_cancels(actions);

  check_stop_rules();
  if (draining.empty()) {
    renew_needs();
    wake_retries(now);
    for (const MoveFile& move : files.begin_awaited(now)) actions.emplace_back(move);
    launch_staged(actions);
    heed_loads(now, actions);
    for (const auto& load : std::span(shown).subspan(working_hosts))
      if (HostState& state = hosts.at(load.host->id); !state.keeps) recall(state, actions);
    if (working_hosts > 0) {
      if (due || changed) ask_strategy(now, actions);
      share_with_idle(now, actions);
      check_stuck();
    }
  }
  if (draining.empty()) return actions;
  release_all_staged();
  for (auto& [id, state] : hosts) recall(state, actions);
  return actions;
}

void Engine::Impl::heed_loads(TimePoint now, std::vector<Action>& actions) {
  if (!loads_changed || (heed_from != kNever && now < heed_from)) return;
  loads_changed = false;
  changed = true;
  heed_from = now + kLoadsRest;
  const auto mean = run_times.mean();
  const bool worth_moving = working_hosts > 1 && mean && *mean >= kWorthRecalling;
  std::uint64_t cores = 0;
  std::uint64_t cores_changed = 0;
  for (auto& [id, state] : hosts) {
    cores += state.host.cores;
    const auto load = std::exchange(state.changed, HostState::Changed::no);
    if (load != HostState::Changed::no) cores_changed += state.host.cores;
    if (load == HostState::Changed::slower && worth_moving) recall(state, actions);
  }
  upset = upset || cores_changed * kFewCores >= cores;
}

void Engine::Impl::recall(HostState& state, std::vector<Action>& actions) {
  if (state.handed_over == 0 || state.recalled) return;
  state.recalled = true;
  actions.emplace_back(RecallQueued{state.host.id});
}

void Engine::Impl::ask_strategy(TimePoint now, std::vector<Action>& actions) {
  changed = false;
  ask_again = kNever;
  bool more = true;
  while (more) {
    refill();
    const bool started = start_some(now, actions) > 0;
    more = started && ready.placeable() == 0 && cursor < tasks.size();
    // The way from home is free for another file.
    if (std::exchange(redirected, false)) more = true;
  }
}

void Engine::Impl::check_stop_rules() {
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

std::string Engine::unplaceable() const {
  std::optional<TaskNeeds> fits;
  for (std::uint32_t i = 1; i <= impl_->tasks.size(); ++i) {
    const TaskRecord& record = impl_->tasks[TaskId(i)];
    if (record.state != TaskState::pending || !record.selected) continue;
    TaskNeeds needs{.resources = impl_->workload.resources_of(TaskId(i))};
    if (!impl_->map.depots.empty()) needs.files = impl_->workload.files_of(TaskId(i));
    if (needs == fits) continue;
    if (auto why = impl_->why_unplaceable(TaskId(i)); !why.empty()) return why;
    fits = std::move(needs);
  }
  return {};
}

bool Engine::Impl::is_stuck() const {
  const Counts& mine = tasks.selected();
  const bool others_go_on = mine.staging + mine.handed_over + mine.running + mine.waiting > 0;
  return working_hosts > 0 && !ready.empty() && ready.placeable() == 0 && !others_go_on;
}

void Engine::Impl::check_stuck() {
  if (is_stuck() && !policy.hosts_may_come) drain(why_unplaceable(ready.front()));
}

std::vector<Resources> Engine::stranded() const {
  std::vector<Resources> needs;
  if (!impl_->draining.empty() || !impl_->is_stuck()) return needs;
  for (const schedule::ReadyClass& each : impl_->ready.view()) {
    needs.push_back(each.needs->resources);
    // It will do with what the host has.
    if (impl_->learns_memory_of(ReadyQueue::first_of(each))) needs.back().memory = 0;
  }
  return needs;
}

void Engine::Impl::wake_retries(TimePoint now) {
  while (const auto task = retries.pop_due(now)) make_pending(*task, true);
}

void Engine::Impl::refill() {
  // With many hosts more, so that filling them all takes a few plans and not hundreds.
  const std::size_t window = std::max(appetite.ready, hosts.size());
  while (ready.placeable() < window && cursor < tasks.size()) {
    const TaskId task(++cursor);
    const TaskRecord& record = tasks[task];
    if (record.state == TaskState::pending && record.selected)
      ready.push(task, needs_of(task), false);
  }
}

bool Engine::Impl::has_choice() const {
  if (ready.placeable() > 0) return true;
  return appetite.to_the_end && !(outstanding.empty() && staged.empty());
}

std::size_t Engine::Impl::start_some(TimePoint now, std::vector<Action>& actions) {
  if (!has_choice()) return 0;
  const auto classes = ready.view();
  const auto& sites = files.view(now);
  const auto plan =
      strategy->plan({now, classes, working(), run_times, ready.placeable(), workload.file_bytes,
                      sites, refused, &seen, &map, [this](TaskId task) { return needs_of(task); },
                      files.any_barred(now), &accuracy, &on_time, std::exchange(upset, false)});
  ask_again = plan.ask_again;
  if (std::exchange(planned_end, plan.ends) != plan.ends) planned_blindly = !run_times.expected(1);
  refused.clear();
  const auto carry_out_all = [&](const auto& wanted) {
    for (const auto& each : wanted)
      if (const auto why = carry_out(each, now, actions)) refused.push_back({each, *why});
  };
  carry_out_all(plan.starts);
  const std::size_t started = plan.starts.size() - refused.size();
  carry_out_all(plan.moves);
  carry_out_all(plan.steals);
  carry_out_all(plan.twins);
  changed = changed || !refused.empty();
  return started;
}

void Engine::Impl::show_hosts() {
  rooms.clear();
  needs_changed = workload.learns_memory;
  shown.resize(hosts.size());
  std::size_t place = 0;
  for (const bool drains : {false, true}) {
    for (auto& [id, state] : hosts) {
      if (state.draining != drains) continue;
      state.shown_at = place++;
      show_load(state);
    }
    if (!drains) working_hosts = place;
  }
}

Engine::Impl::WhyNot Engine::Impl::refuses_all(HostId host) const {
  const auto found = hosts.find(host);
  if (found == hosts.end()) return RefusalReason::host_gone;
  if (found->second.draining) return RefusalReason::host_draining;
  return std::nullopt;
}

Engine::Impl::WhyNot Engine::Impl::refuses_now(const HostState& state, const TaskNeeds& needs,
                                               TimePoint now) const {
  if (!schedule::is_free(state.host, state.load, needs.resources)) return RefusalReason::no_room;
  if (!in_time(state.host, needs, now)) return RefusalReason::no_time_left;
  return std::nullopt;
}

Engine::Impl::WhyNot Engine::Impl::carry_out(const schedule::Intent& wanted, TimePoint now,
                                             std::vector<Action>& actions) {
  if (const WhyNot why = refuses_all(wanted.host)) return why;
  const TaskNeeds* found = ready.needs(wanted.task_class);
  if (found == nullptr) return RefusalReason::class_gone;
  const TaskNeeds needs = *found;
  const HostState& state = hosts.at(wanted.host);
  const Host& there = state.host;
  // Who counts failures wants to stop at the last one that is allowed: nothing is handed over
  // ahead.
  const bool room = policy.max_fails > 0
                        ? schedule::is_free(there, state.load, needs.resources)
                        : schedule::admits(there, state.load, needs.resources, run_times.mean());
  if (!room) return RefusalReason::no_room;
  if (!in_time(there, needs, now)) return RefusalReason::no_time_left;
  if (!can_have_files(needs, there.site, true, now, actions))
    return RefusalReason::files_cannot_come;
  const TaskId task = *ready.take(wanted.task_class);
  if (workload.learns_memory && resources_of(task) != needs.resources) {
    ready.push(task, needs_of(task), false);  // what was learnt meanwhile; see renew_needs()
    return RefusalReason::needs_changed;
  }
  give(task, there, needs, now, actions);
  return std::nullopt;
}

Engine::Impl::WhyNot Engine::Impl::carry_out(const schedule::Steal& wanted, TimePoint now,
                                             std::vector<Action>& actions) {
  if (const WhyNot why = refuses_all(wanted.host)) return why;
  const auto place = staged.find(wanted.task);
  const bool is_twin = outstanding.contains(wanted.task);  // its task runs elsewhere
  if (place == staged.end() || place->second.host == wanted.host || is_twin)
    return RefusalReason::not_waiting;
  const TaskNeeds needs = needs_of(wanted.task);
  const HostState& state = hosts.at(wanted.host);
  if (const WhyNot why = refuses_now(state, needs, now)) return why;
  if (!can_have_files(needs, state.host.site, true, now, actions))
    return RefusalReason::files_cannot_come;
  leave_stage(wanted.task);
  give(wanted.task, state.host, needs, now, actions);
  return std::nullopt;
}

Engine::Impl::WhyNot Engine::Impl::carry_out(const schedule::Twin& wanted, TimePoint now,
                                             std::vector<Action>& actions) {
  if (const WhyNot why = refuses_all(wanted.host)) return why;
  if (!may_have_twin(wanted.task, wanted.host)) return RefusalReason::no_twin_allowed;
  const TaskNeeds needs = needs_of(wanted.task);
  const HostState& state = hosts.at(wanted.host);
  if (const WhyNot why = refuses_now(state, needs, now)) return why;
  // No file that a ready task reads makes way for a second attempt.
  if (!can_have_files(needs, state.host.site, false, now, actions))
    return RefusalReason::files_cannot_come;
  give(wanted.task, state.host, needs, now, actions);
  return std::nullopt;
}

bool Engine::Impl::in_time(const Host& host, const TaskNeeds& needs, TimePoint now) const {
  return schedule::is_in_time(host, needs.resources, run_times.expected(needs.cost), now);
}

bool Engine::Impl::may_have_twin(TaskId task, HostId host) const {
  const auto first = outstanding.find(task);
  if (first == outstanding.end() || has_twin(task)) return false;
  const Outstanding& attempt = first->second;
  return attempt.host != host && !attempt.computed && !attempt.alone;
}

void Engine::Impl::give(TaskId task, const Host& host, const TaskNeeds& needs, TimePoint now,
                        std::vector<Action>& actions) {
  if (files.all_there(needs.files, host.site))
    launch(task, host.id, needs.resources, actions);
  else
    stage(task, host, needs, now, actions);
}

void Engine::Impl::launch(TaskId task, HostId host, const Resources& resources,
                          std::vector<Action>& actions) {
  TaskRecord& record = tasks.edit(task);
  if (passes_over && passed_over.insert(task).second)
    missing.try_emplace({task, AttemptId(++record.attempt)}, kHome);
  const AttemptId attempt(++record.attempt);
  typical = resources;
  hand_over({task, attempt}, host, resources);
  if (learns_memory_of(task)) find({task, attempt})->memory = gives_memory(task, resources);
  actions.emplace_back(StartAttempt{task, attempt, host});
}

TimePoint Engine::Impl::next_wakeup() const {
  if (!draining.empty()) return kNever;
  TimePoint first = kNever;
  const TimePoint heed = loads_changed ? heed_from : kNever;
  for (const TimePoint time :
       {retries.next(), files.next_try(last_decide), ask_again, heed, share_again})
    if (time != kNever && (first == kNever || time < first)) first = time;
  return first;
}

bool Engine::Impl::fits_somewhere(const TaskNeeds& needs) const {
  return std::ranges::any_of(working(), [&](const schedule::HostLoad& load) {
    const Host& host = *load.host;
    return schedule::slots(host, needs.resources) > 0 &&
           schedule::is_lent_long_enough(host, needs.resources) &&
           depot_holds(host.site, needs.files);
  });
}

bool Engine::Impl::finished() const {
  const Counts& mine = tasks.selected();
  if (mine.handed_over + mine.running > 0 || !leftovers.empty()) return false;
  return !draining.empty() || mine.pending + mine.staging + mine.waiting == 0;
}

}  // namespace gantry::engine
