#include <algorithm>
#include <utility>

#include "engine/run/run.hpp"

namespace gantry::engine {

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
  attempts.add(key.first, attempt);
  show_state(key.first);
}

void Run::mark_running(TaskId task, Outstanding& attempt, TimePoint at) {
  attempts.start(attempt, at);
  attempt.begun = book.times().seen().work_done(attempt.host, at);
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
  Outstanding gone = attempts.remove(key);
  if (!attempts.has(task) && staged.contains(task)) leave_stage(task);  // a twin that was to be
  free_place(task, gone);
  if (attempts.has(task)) show_state(task);
  return gone;
}

void Run::free_place(TaskId task, const Outstanding& attempt) {
  if (!attempt.computed) vacate(attempt.host, {task, attempt.attempt}, attempt.load);
}

void Run::show_state(TaskId task) {
  const TaskState state = attempts.is_running(task) ? TaskState::running : TaskState::handed_over;
  if (tasks[task].state != state) tasks.set_state(task, state);
}

// Leftovers.
// -----------------------------------------------------------------------------------------------

void Run::dismiss_rest(TaskId task) {
  const auto dismiss = [&](const Outstanding* other) {
    if (other != nullptr) make_leftover(task, attempts.remove({task, other->attempt}));
  };
  dismiss(attempts.twin(task));
  dismiss(attempts.first(task));
  if (staged.contains(task)) leave_stage(task);
}

void Run::make_leftover(TaskId task, Outstanding attempt) {
  tell_to_end(task, attempt);
  attempts.add_leftover(task, attempt);
}

bool Run::drop_leftover(const AttemptKey& key) {
  const auto gone = attempts.remove_leftover(key);
  if (gone) free_place(key.first, *gone);
  return gone.has_value();
}

void Run::tell_to_end(TaskId task, Outstanding& attempt) {
  attempts.tell_to_end(task, attempt);
  leave_alone(task, attempt);
}

void Run::leave_alone(TaskId task, Outstanding& attempt) {
  attempt.alone = true;
  if (auto* ongoing = find_ongoing(attempt.host, {task, attempt.attempt})) ongoing->alone = true;
}

void Run::take_cancels(std::vector<Action>& actions) {
  for (const auto& [key, host] : attempts.take_told())
    actions.emplace_back(CancelAttempt{key_of(key), host});
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
