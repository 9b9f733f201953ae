#include <algorithm>
#include <limits>
#include <utility>

#include "engine/run/run.hpp"

namespace gantry::engine {

namespace {
/// Attempt numbers come from agents: one that could overflow the counter is not believed.
constexpr std::uint32_t kMaxAttempt = std::numeric_limits<std::uint32_t>::max() / 2;
/// So many attempts before one that is heard of may be heard of later.
constexpr std::uint32_t kPassedOver = 16;
/// An attempt that takes so many times what was expected is late.
constexpr int kLate = 2;
}  // namespace

bool Run::valid(const TaskKey& key) const {
  return tasks.contains(key.task) && key.attempt.value() >= 1 && key.attempt.value() <= kMaxAttempt;
}

bool Run::is_news(const AttemptKey& key) const {
  if (missing.contains(key)) return true;
  const std::uint32_t number = key.second.value();
  const std::uint32_t last = tasks[key.first].attempt;
  // Beside one that is outstanding there can only be its twin.
  return outstanding.contains(key.first) ? number == last + 1 : number > last;
}

void Run::take_number(const AttemptKey& key) {
  missing.erase(key);
  TaskRecord& record = tasks.edit(key.first);
  const std::uint32_t number = key.second.value();
  if (number <= record.attempt) return;
  // Of two attempts the later one may be heard of first.
  const std::uint32_t oldest = std::max(record.attempt + 1, number - std::min(number, kPassedOver));
  for (std::uint32_t other = oldest; other < number; ++other)
    missing.try_emplace({key.first, AttemptId(other)}, kHome);
  record.attempt = number;
}

bool Run::is_elsewhere(const AttemptKey& key, HostId host) const {
  const Outstanding* attempt = find(key);
  const auto leftover = leftovers.find(key);
  if (leftover != leftovers.end()) attempt = &leftover->second;
  return attempt != nullptr && attempt->host != host;
}

bool Run::awaits(const TaskKey& key, HostId host) const {
  if (!valid(key)) return false;
  const AttemptKey attempt{key.task, key.attempt};
  if (is_elsewhere(attempt, host)) return false;
  return find(attempt) != nullptr || (is_news(attempt) && tasks[key.task].state != TaskState::done);
}

void Run::on(const AttemptStarted& event) {
  if (!valid(event.key)) return;
  const AttemptKey key{event.key.task, event.key.attempt};
  if (is_elsewhere(key, event.host)) return;
  if (Outstanding* attempt = find(key)) {
    if (!attempt->running) mark_running(key.first, *attempt, event.at);
    return;
  }
  if (leftovers.contains(key) || !is_news(key)) return;
  if (missing.contains(key)) forgive_loss(key.first);
  take_number(key);
  adopt(key, event.host, event.at);
}

void Run::adopt(const AttemptKey& key, HostId host, TimePoint started) {
  const TaskId task = key.first;
  const Resources resources = resources_of(task);
  if (tasks[task].state == TaskState::done || twins.contains(task))
    return make_leftover(task, place_on(key, host, resources));
  if (!outstanding.contains(task))
    leave_queue(task);
  else if (staged.contains(task))
    leave_stage(task);  // this is its twin
  hand_over(key, host, resources);
  Outstanding& attempt = *find(key);
  mark_running(task, attempt, started);
  if (tasks[task].cancel) tell_to_end(task, attempt);
}

void Run::on(const AttemptComputed& event) {
  if (!valid(event.key)) return;
  const AttemptKey key{event.key.task, event.key.attempt};
  if (is_elsewhere(key, event.host)) return;
  Outstanding* attempt = find(key);
  if (const auto leftover = leftovers.find(key); leftover != leftovers.end())
    attempt = &leftover->second;
  if (attempt == nullptr || std::exchange(attempt->computed, true)) return;
  vacate(attempt->host, key, attempt->load);
  // Its host has it no more, but the task still has two.
  if (const auto twin = twins.find(key.first); twin != twins.end()) {
    Outstanding& first = outstanding.at(key.first);
    leave_alone(key.first, first.attempt == key.second ? twin->second : first);
  }
}

void Run::on(const AttemptReturned& event) {
  if (!valid(event.key)) return;
  const AttemptKey key{event.key.task, event.key.attempt};
  if (is_elsewhere(key, event.host) || drop_leftover(key)) return;
  const Outstanding* attempt = find(key);
  if (attempt == nullptr || attempt->running) return;
  const TaskId task = key.first;
  release(key);
  TaskRecord& record = tasks.edit(task);
  if (record.attempt == key.second.value()) --record.attempt;
  if (outstanding.contains(task)) return;
  if (record.cancel)
    tasks.set_state(task, TaskState::cancelled);
  else
    make_pending(task);
}

void Run::on(const AttemptEnded& event) {
  const AttemptReport& report = event.report;
  if (!valid(report.key)) return;
  const AttemptKey key{report.key.task, report.key.attempt};
  const TaskId task = key.first;
  if (is_elsewhere(key, event.host)) return;
  if (drop_leftover(key)) return observe(report, event.host);
  bool was_started = report.started != kNever;
  std::optional<double> begun;
  if (const Outstanding* attempt = find(key)) {
    begun = attempt->begun;
    score(report, *attempt);
    learn_launch(event);
    if (workload.learns_memory) observe_death(report, attempt->memory.bytes);
    was_started |= release(key);
  } else {
    if (!is_news(key)) return;
    const bool newest = key.second.value() > tasks[task].attempt;
    take_number(key);
    if (!counts_unasked(report, newest)) return;
    if (!outstanding.contains(task)) leave_queue(task);
    if (workload.learns_memory) observe_death(report, 0);
  }
  observe(report, event.host, begun);
  observe_outputs(event);
  if (report.cause != FailureCause::none && outstanding.contains(task))
    return go_on_after(report, was_started);
  settle(report, was_started);
}

bool Run::counts_unasked(const AttemptReport& report, bool newest) const {
  const TaskId task = report.key.task;
  const TaskState state = tasks[task].state;
  if (state == TaskState::done) return false;
  if (report.cause == FailureCause::none) return true;
  if (outstanding.contains(task)) return false;
  // The journal holds ends in the order in which they came, each once.
  if (newest || replaying) return true;
  return report.key.attempt.value() == tasks[task].attempt &&
         (state == TaskState::pending || state == TaskState::staging);
}

void Run::go_on_after(const AttemptReport& report, bool was_started) {
  const TaskId task = report.key.task;
  const bool lost = report.cause == FailureCause::lost || report.cause == FailureCause::cancelled;
  if (lost) return go_on_after_loss(task, was_started);
  // With yet another twin, and another, a task that always fails would run for ever.
  if (!is_crowded(report.cause, report.code)) leave_alone(task, outstanding.at(task));
}

void Run::go_on_after_loss(TaskId task, bool was_started) {
  add_loss(task, was_started);
  if (tasks[task].loss_points >= kLossLimit) leave_alone(task, outstanding.at(task));
}

void Run::on(const TaskReused& event) {
  if (!tasks.contains(event.task)) return;
  const TaskState state = tasks[event.task].state;
  if (state == TaskState::done || outstanding.contains(event.task)) return;
  leave_queue(event.task);
  renew(event.task);
  tasks.set_state(event.task, TaskState::done, true);
  ever_succeeded = true;
}

void Run::on(const TaskInvalidated& event) {
  if (!tasks.contains(event.task)) return;
  const TaskState state = tasks[event.task].state;
  if (state != TaskState::done && state != TaskState::failed && state != TaskState::cancelled)
    return;
  renew(event.task);
  make_pending(event.task);
}

void Run::on(const CancelRequested& event) {
  if (!event.all) {
    for (const TaskId task : event.tasks)
      if (tasks.contains(task)) cancel(task);
    return;
  }
  for (std::uint32_t i = 1; i <= tasks.size(); ++i) cancel(TaskId(i));
  if (!replaying) drain("cancelled");
}

void Run::on(const DrainRequested& event) {
  drain(event.reason.empty() ? "interrupted" : event.reason);
}

void Run::on(const TasksAdded& event) {
  closed = false;
  if (event.batch.first.value() == tasks.size() + 1) add_tasks(event.batch.count);
  // else told before
}

void Run::add_tasks(std::uint32_t count) {
  const bool first = tasks.size() == 0;
  tasks.append(count);
  workload.count = tasks.size();
  costs = profile_of(workload);
  learned.extend(workload.count);
  if (first && tasks.size() > 0) typical = workload.resources_of(TaskId(1));
  if (learned.known()) use_new_costs();
  changed = true;
}

void Run::on(const RunClosed&) {
  closed = true;
}

void Run::on(const HostsUnheard& event) {
  passes_over = event.any;
}

void Run::on(const RunResumed& event) {
  for (std::uint32_t i = 1; i <= tasks.size(); ++i) {
    const TaskId task(i);
    const TaskState state = tasks[task].state;
    renew(task);
    if (event.only)
      tasks.select(task, false);
    else if (state == TaskState::failed || state == TaskState::cancelled)
      make_pending(task);
  }
  for (const TaskId task : event.only.value_or(std::vector<TaskId>{})) {
    if (!tasks.contains(task)) continue;
    tasks.select(task, true);
    if (!outstanding.contains(task)) make_pending(task);
  }
  end_replay();
}

void Run::end_replay() {
  if (!replaying) return;
  replaying = false;
  // Once the ring is full, its oldest entry is where the next one would have gone.
  const std::size_t size = replayed_times.size();
  if (size > 0 && learned.known()) run_times = {};  // what other runs took does not count any more
  for (std::size_t i = 0; i < size; ++i) {
    const auto& [task, took] = replayed_times[(replayed_count + i) % size];
    run_times.observe(cost_of(task), took);
    remember_time(task, took);
  }
  replayed_times = {};
  learn_replayed_memory();
}

void Run::leave_queue(TaskId task) {
  const TaskRecord& record = tasks[task];
  if (record.state == TaskState::waiting)
    retries.remove(task);
  else if (record.state == TaskState::staging)
    leave_stage(task);
  else if (record.state == TaskState::pending && record.selected && task.value() <= cursor)
    ready.remove(task, needs_of(task));
}

void Run::make_pending(TaskId task, bool first) {
  changed = true;
  tasks.set_state(task, TaskState::pending);
  if (tasks[task].selected && task.value() <= cursor) ready.push(task, needs_of(task), first);
}

void Run::renew(TaskId task) {
  TaskRecord& record = tasks.edit(task);
  record.failures = 0;
  record.loss_points = 0;
  record.cancel = false;
  wasted.erase(task);
}

void Run::observe(const AttemptReport& report, HostId host, std::optional<double> begun) {
  if (workload.learns_memory) observe_memory(report);
  if (report.cause == FailureCause::lost || report.cause == FailureCause::cancelled ||
      report.cause == FailureCause::checkpointed || report.started == kNever ||
      report.ended == kNever)
    return;
  const Duration took = report.ended - report.started;
  if (!replaying) {
    if (!learns()) return;
    efficiency.observe(report.ended, took, slots_in_all());
    return learn(report, host, begun);
  }
  constexpr std::size_t kRing = forecast::RunTimeForecast::kMemory;
  if (replayed_times.size() < kRing)
    replayed_times.emplace_back(report.key.task, took);
  else
    replayed_times[replayed_count % kRing] = {report.key.task, took};
  ++replayed_count;
}

void Run::score(const AttemptReport& report, const Outstanding& attempt) {
  if (report.cause != FailureCause::none || report.started == kNever || report.ended == kNever)
    return;
  const Duration took = report.ended - report.started;
  accuracy.score(seconds(attempt.expected), seconds(took));
  const HostState* state = grid.find(attempt.host);
  if (state != nullptr && took <= kLate * attempt.expected)
    on_time[state->host.site] = report.ended;
}

void Run::cancel(TaskId task) {
  TaskRecord& record = tasks.edit(task);
  wasted.erase(task);
  switch (record.state) {
    case TaskState::pending:
    case TaskState::staging:
    case TaskState::waiting:
      leave_queue(task);
      record.cancel = true;
      return tasks.set_state(task, TaskState::cancelled);
    case TaskState::handed_over:
    case TaskState::running:
      record.cancel = true;
      tell_to_end(task, outstanding.at(task));
      if (const auto twin = twins.find(task); twin != twins.end()) tell_to_end(task, twin->second);
      if (staged.contains(task)) leave_stage(task);
      return;
    case TaskState::done:
    case TaskState::failed:
    case TaskState::cancelled:
      return;
  }
}

void Run::drain(std::string reason) {
  if (draining.empty()) draining = std::move(reason);
}

}  // namespace gantry::engine
