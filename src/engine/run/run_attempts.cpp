#include <algorithm>
#include <utility>

#include "engine/engine_impl.hpp"

namespace gantry::engine {

const Outstanding* Engine::Impl::find(const AttemptKey& key) const {
  const auto& [task, attempt] = key;
  const auto first = outstanding.find(task);
  if (first == outstanding.end()) return nullptr;
  if (first->second.attempt == attempt) return &first->second;
  const auto second = twins.find(task);
  return second != twins.end() && second->second.attempt == attempt ? &second->second : nullptr;
}

Outstanding* Engine::Impl::find(const AttemptKey& key) {
  return const_cast<Outstanding*>(std::as_const(*this).find(key));
}

Outstanding Engine::Impl::place_on(const AttemptKey& key, HostId host, const Resources& resources) {
  const auto& [task, number] = key;
  Outstanding attempt{.attempt = number, .host = host};
  if (const auto it = hosts.find(host); it != hosts.end()) {
    // An adopted attempt may run on a host that has become too small for it.
    if (schedule::slots(it->second.host, resources) > 0)
      attempt.load = schedule::share(it->second.host, resources);
    occupy(host, task, attempt.load, number);
  }
  return attempt;
}

void Engine::Impl::hand_over(const AttemptKey& key, HostId host, const Resources& resources) {
  Outstanding attempt = place_on(key, host, resources);
  const TaskRecord& record = tasks[key.first];
  if (!record.selected || record.loss_points >= kLossLimit) leave_alone(key.first, attempt);
  count_queued(host, +1);
  if (!outstanding.try_emplace(key.first, attempt).second) twins.emplace(key.first, attempt);
  show_state(key.first);
}

void Engine::Impl::mark_running(TaskId task, Outstanding& attempt, TimePoint at) {
  attempt.started = at;
  attempt.running = true;
  attempt.begun = seen.work_done(attempt.host, at);
  count_queued(attempt.host, -1);
  if (attempt.expected == Duration{0})
    attempt.expected = expected(task, attempt.host).value_or(Duration{0});
  if (auto* ongoing = find_ongoing(attempt.host, {task, attempt.attempt})) {
    ongoing->started = at;
    ongoing->expected = attempt.expected;
    ongoing->begun = attempt.begun;
    ongoing->speed = seen.speed(attempt.host);
  }
  show_state(task);
}

bool Engine::Impl::release(const AttemptKey& key) {
  const TaskId task = key.first;
  const auto first = outstanding.find(task);
  Outstanding gone;
  if (auto twin = twins.extract(task); twin.empty()) {
    gone = first->second;
    outstanding.erase(first);
    if (staged.contains(task)) leave_stage(task);  // a twin that was to be
  } else if (twin.mapped().attempt == key.second) {
    gone = twin.mapped();
  } else {
    gone = std::exchange(first->second, twin.mapped());
  }
  if (!gone.running) count_queued(gone.host, -1);
  free_place(task, gone);
  if (outstanding.contains(task)) show_state(task);
  return gone.running;
}

void Engine::Impl::free_place(TaskId task, const Outstanding& attempt) {
  if (!attempt.computed) vacate(attempt.host, task, attempt.load, attempt.attempt);
}

void Engine::Impl::count_queued(HostId host, int by) {
  const auto it = hosts.find(host);
  if (it == hosts.end()) return;
  std::uint32_t& queued = it->second.handed_over;
  if (by > 0) it->second.recalled = false;  // not this one
  if (by > 0 || queued > 0) queued += static_cast<std::uint32_t>(by);
}

void Engine::Impl::show_state(TaskId task) {
  const auto twin = twins.find(task);
  const bool running =
      outstanding.at(task).running || (twin != twins.end() && twin->second.running);
  const TaskState state = running ? TaskState::running : TaskState::handed_over;
  if (tasks[task].state != state) tasks.set_state(task, state);
}

// Leftovers.
// -----------------------------------------------------------------------------------------------

void Engine::Impl::dismiss_rest(TaskId task) {
  const auto dismiss = [&](const Outstanding& attempt) {
    if (!attempt.running) count_queued(attempt.host, -1);  // cancelled; not to be recalled, too
    make_leftover(task, attempt);
  };
  if (auto twin = twins.extract(task); !twin.empty()) dismiss(twin.mapped());
  if (const auto first = outstanding.extract(task); !first.empty()) dismiss(first.mapped());
  if (staged.contains(task)) leave_stage(task);
}

void Engine::Impl::make_leftover(TaskId task, Outstanding attempt) {
  tell_to_end(task, attempt);
  leftovers.emplace(AttemptKey{task, attempt.attempt}, attempt);
}

bool Engine::Impl::drop_leftover(const AttemptKey& key) {
  const auto gone = leftovers.extract(key);
  if (gone.empty()) return false;
  free_place(key.first, gone.mapped());
  return true;
}

void Engine::Impl::tell_to_end(TaskId task, Outstanding& attempt) {
  if (std::exchange(attempt.ending, true)) return;
  cancels.emplace_back(task, attempt.attempt);
  leave_alone(task, attempt);
}

void Engine::Impl::leave_alone(TaskId task, Outstanding& attempt) {
  attempt.alone = true;
  if (auto* ongoing = find_ongoing(attempt.host, {task, attempt.attempt})) ongoing->alone = true;
}

void Engine::Impl::take_cancels(std::vector<Action>& actions) {
  for (const AttemptKey& key : cancels) {
    const Outstanding* attempt = find(key);
    const auto leftover = leftovers.find(key);
    if (attempt == nullptr && leftover != leftovers.end()) attempt = &leftover->second;
    if (attempt != nullptr) actions.emplace_back(CancelAttempt{key_of(key), attempt->host});
  }
  cancels.clear();
}

// What is shown of hosts.
// -----------------------------------------------------------------------------------------------

void Engine::Impl::occupy(HostId host, TaskId task, schedule::Load load, AttemptId attempt) {
  HostState& state = hosts.at(host);
  state.load += load;
  state.ongoing.push_back({task, forecast::usable_cost(cost_of(task)), kNever, attempt, false});
  if (files.has_limit(state.host.site)) files.use(workload.files_of(task), state.host.site);
  show_load(state);
}

void Engine::Impl::vacate(HostId host, TaskId task, schedule::Load load, AttemptId attempt) {
  const auto it = hosts.find(host);
  if (it == hosts.end()) return;
  HostState& state = it->second;
  state.load -= std::min(state.load, load);
  if (auto* ongoing = find_ongoing(host, {task, attempt})) {
    state.ongoing.erase(state.ongoing.begin() + (ongoing - state.ongoing.data()));
    const SiteId site = state.host.site;
    if (files.has_limit(site)) files.disuse(workload.files_of(task), site);
  }
  show_load(state);
  changed = true;
}

schedule::Ongoing* Engine::Impl::find_ongoing(HostId host, const AttemptKey& key) {
  const auto it = hosts.find(host);
  if (it == hosts.end()) return nullptr;
  // Near the front: hosts work off what they were given in order.
  auto& ongoing = it->second.ongoing;
  const auto place = std::ranges::find_if(ongoing, [&](const schedule::Ongoing& each) {
    return each.task == key.first && each.attempt == key.second;
  });
  return place == ongoing.end() ? nullptr : &*place;
}

}  // namespace gantry::engine
