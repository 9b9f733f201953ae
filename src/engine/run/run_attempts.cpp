#include <algorithm>
#include <utility>

#include "engine/run/run.hpp"

namespace gantry::engine {

const Outstanding* Run::find(const AttemptKey& key) const {
  const auto& [task, attempt] = key;
  const auto first = outstanding.find(task);
  if (first == outstanding.end()) return nullptr;
  if (first->second.attempt == attempt) return &first->second;
  const auto second = twins.find(task);
  return second != twins.end() && second->second.attempt == attempt ? &second->second : nullptr;
}

Outstanding* Run::find(const AttemptKey& key) {
  return const_cast<Outstanding*>(std::as_const(*this).find(key));
}

Outstanding Run::place_on(const AttemptKey& key, HostId host, const Resources& resources) {
  Outstanding attempt{.attempt = key.second, .host = host};
  if (const HostState* state = grid.find(host); state != nullptr) {
    // An adopted attempt may run on a host that has become too small for it.
    if (schedule::slots(state->host, resources) > 0)
      attempt.load = schedule::share(state->host, resources);
    occupy(host, key, attempt.load);
  }
  return attempt;
}

void Run::hand_over(const AttemptKey& key, HostId host, const Resources& resources) {
  Outstanding attempt = place_on(key, host, resources);
  const TaskRecord& record = tasks[key.first];
  if (!record.selected || record.loss_points >= kLossLimit) leave_alone(key.first, attempt);
  count_queued(host, +1);
  if (!outstanding.try_emplace(key.first, attempt).second) twins.emplace(key.first, attempt);
  show_state(key.first);
}

void Run::mark_running(TaskId task, Outstanding& attempt, TimePoint at) {
  attempt.started = at;
  attempt.running = true;
  attempt.begun = book.times().seen().work_done(attempt.host, at);
  count_queued(attempt.host, -1);
  if (attempt.expected == Duration{0})
    attempt.expected = book.times().expected(task, attempt.host).value_or(Duration{0});
  if (auto* ongoing = find_ongoing(attempt.host, {task, attempt.attempt})) {
    ongoing->started = at;
    ongoing->expected = attempt.expected;
    ongoing->begun = attempt.begun;
    ongoing->speed = book.times().seen().speed(attempt.host);
  }
  show_state(task);
}

Outstanding Run::release(const AttemptKey& key) {
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
  return gone;
}

void Run::free_place(TaskId task, const Outstanding& attempt) {
  if (!attempt.computed) vacate(attempt.host, {task, attempt.attempt}, attempt.load);
}

void Run::count_queued(HostId host, int by) {
  if (grid.find(host) == nullptr) return;
  HostQueue& queue = queues[host];
  if (by > 0) queue.recalled = false;  // not this one
  if (by > 0 || queue.handed_over > 0) queue.handed_over += static_cast<std::uint32_t>(by);
}

void Run::reset_queue(HostId host) {
  if (const auto queue = queues.find(host); queue != queues.end()) queue->second.recalled = false;
}

void Run::show_state(TaskId task) {
  const auto twin = twins.find(task);
  const bool running =
      outstanding.at(task).running || (twin != twins.end() && twin->second.running);
  const TaskState state = running ? TaskState::running : TaskState::handed_over;
  if (tasks[task].state != state) tasks.set_state(task, state);
}

// Leftovers.
// -----------------------------------------------------------------------------------------------

void Run::dismiss_rest(TaskId task) {
  const auto dismiss = [&](const Outstanding& attempt) {
    if (!attempt.running) count_queued(attempt.host, -1);  // cancelled; not to be recalled, too
    make_leftover(task, attempt);
  };
  if (auto twin = twins.extract(task); !twin.empty()) dismiss(twin.mapped());
  if (const auto first = outstanding.extract(task); !first.empty()) dismiss(first.mapped());
  if (staged.contains(task)) leave_stage(task);
}

void Run::make_leftover(TaskId task, Outstanding attempt) {
  tell_to_end(task, attempt);
  leftovers.emplace(AttemptKey{task, attempt.attempt}, attempt);
}

bool Run::drop_leftover(const AttemptKey& key) {
  const auto gone = leftovers.extract(key);
  if (gone.empty()) return false;
  free_place(key.first, gone.mapped());
  return true;
}

void Run::tell_to_end(TaskId task, Outstanding& attempt) {
  if (std::exchange(attempt.ending, true)) return;
  cancels.emplace_back(task, attempt.attempt);
  leave_alone(task, attempt);
}

void Run::leave_alone(TaskId task, Outstanding& attempt) {
  attempt.alone = true;
  if (auto* ongoing = find_ongoing(attempt.host, {task, attempt.attempt})) ongoing->alone = true;
}

void Run::take_cancels(std::vector<Action>& actions) {
  for (const AttemptKey& key : cancels) {
    const Outstanding* attempt = find(key);
    const auto leftover = leftovers.find(key);
    if (attempt == nullptr && leftover != leftovers.end()) attempt = &leftover->second;
    if (attempt != nullptr) actions.emplace_back(CancelAttempt{key_of(key), attempt->host});
  }
  cancels.clear();
}

// What is grid.shown of hosts.
// -----------------------------------------------------------------------------------------------

void Run::occupy(HostId host, const AttemptKey& key, schedule::Load load) {
  const auto& [task, attempt] = key;
  grid.occupy(host,
              {.task = task,
               .cost = forecast::usable_cost(book.times().cost_of(task)),
               .attempt = attempt,
               .run = run_id},
              load, limited_reads(host, task));
}

void Run::vacate(HostId host, const AttemptKey& key, schedule::Load load) {
  grid.vacate(host, key_of(key), load, limited_reads(host, key.first));
}

std::vector<FileId> Run::limited_reads(HostId host, TaskId task) const {
  const HostState* state = grid.find(host);
  const bool limited = state != nullptr && grid.files.has_limit(state->host.site);
  return limited ? workload.files_of(task) : std::vector<FileId>{};
}

}  // namespace gantry::engine
