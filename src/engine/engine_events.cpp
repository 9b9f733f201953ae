#include <algorithm>
#include <limits>
#include <utility>

#include "engine/engine_impl.hpp"

namespace gantry::engine {

namespace {
/// Attempt numbers come from agents: one that could overflow the counter is not believed.
constexpr std::uint32_t kMaxAttempt = std::numeric_limits<std::uint32_t>::max() / 2;
/// A task whose host dies under it again and again is given up: after 10 losses in a row while it
/// ran, or 100 while it only lay in the host's queue, where it is unlikely to be the culprit.
constexpr std::uint8_t kLossLimit = 100;
constexpr std::uint8_t kLossRunning = 10;
constexpr std::uint8_t kLossQueued = 1;
/// Before a task is tried again for which the machine had no room, a hundred times at most.
constexpr Duration kCrowdedWait = std::chrono::seconds(1);
}  // namespace

void Engine::Impl::on(const HostUp& event) {
  hosts[event.host.id].host = event.host;
  show_hosts();
  ready.judge_again();
  changed = true;
}

void Engine::Impl::on(const HostDown& event) {
  std::vector<TaskId> there;
  for (const auto& [task, attempt] : outstanding)
    if (attempt.host == event.host) there.push_back(task);
  std::ranges::sort(there);
  for (const TaskId task : there) {
    const bool was_running = release(task);
    tasks.edit(task).presumed_lost = true;
    settle_lost(task, was_running);
  }
  release_staged_on(event.host);
  hosts.erase(event.host);
  show_hosts();
  ready.judge_again();
  changed = true;
}

bool Engine::Impl::valid(const TaskKey& key) const {
  return tasks.contains(key.task) && key.attempt.value() >= 1 && key.attempt.value() <= kMaxAttempt;
}

bool Engine::Impl::is_news(const TaskKey& key) const {
  const TaskRecord& record = tasks[key.task];
  if (key.attempt.value() > record.attempt) return true;
  return key.attempt.value() == record.attempt && record.presumed_lost &&
         (record.state == TaskState::pending || record.state == TaskState::staging);
}

void Engine::Impl::on(const AttemptStarted& event) {
  if (!valid(event.key)) return;
  const TaskId task = event.key.task;
  TaskRecord& record = tasks.edit(task);
  if (outstanding.contains(task)) {
    if (event.key.attempt.value() == record.attempt && record.state == TaskState::handed_over)
      mark_running(task, event.at);
    return;
  }
  if (!is_news(event.key)) return;
  record.attempt = event.key.attempt.value();
  if (record.state == TaskState::done) return;
  leave_queue(task);
  record.presumed_lost = false;
  hand_over(task, event.host, workload.resources_of(task));
  mark_running(task, event.at);
  if (record.cancel) cancels.push_back(task);
}

void Engine::Impl::on(const AttemptComputed& event) {
  if (!valid(event.key)) return;
  const auto attempt = outstanding.find(event.key.task);
  if (attempt == outstanding.end() || tasks[event.key.task].attempt != event.key.attempt.value())
    return;
  attempt->second.computed = true;
  vacate(attempt->second.host, event.key.task, std::exchange(attempt->second.load, 0));
}

void Engine::Impl::on(const AttemptReturned& event) {
  if (!valid(event.key)) return;
  const TaskId task = event.key.task;
  TaskRecord& record = tasks.edit(task);
  if (record.state != TaskState::handed_over || record.attempt != event.key.attempt.value()) return;
  release(task);
  --record.attempt;
  if (record.cancel)
    tasks.set_state(task, TaskState::cancelled);
  else
    make_pending(task);
}

void Engine::Impl::on(const AttemptEnded& event) {
  const AttemptReport& report = event.report;
  if (!valid(report.key)) return;
  const TaskId task = report.key.task;
  TaskRecord& record = tasks.edit(task);
  bool was_started = report.started != kNever;
  if (outstanding.contains(task)) {
    if (report.key.attempt.value() != record.attempt) return;
    was_started |= release(task);
  } else {
    if (!is_news(report.key)) return;
    record.attempt = report.key.attempt.value();
    if (record.state == TaskState::done) return;
    leave_queue(task);
  }
  record.presumed_lost = false;
  observe(report, event.host);
  settle(report, was_started);
}

void Engine::Impl::on(const TaskReused& event) {
  if (!tasks.contains(event.task)) return;
  const TaskState state = tasks[event.task].state;
  if (state == TaskState::done || outstanding.contains(event.task)) return;
  leave_queue(event.task);
  renew(event.task);
  tasks.set_state(event.task, TaskState::done, true);
  ever_succeeded = true;
}

void Engine::Impl::on(const TaskInvalidated& event) {
  if (!tasks.contains(event.task)) return;
  const TaskState state = tasks[event.task].state;
  if (state != TaskState::done && state != TaskState::failed && state != TaskState::cancelled)
    return;
  renew(event.task);
  make_pending(event.task);
}

void Engine::Impl::on(const CancelRequested& event) {
  if (!event.all) {
    for (const TaskId task : event.tasks)
      if (tasks.contains(task)) cancel(task);
    return;
  }
  for (std::uint32_t i = 1; i <= tasks.size(); ++i) cancel(TaskId(i));
  if (!replaying) drain("cancelled");
}

void Engine::Impl::on(const DrainRequested& event) {
  drain(event.reason.empty() ? "interrupted" : event.reason);
}

void Engine::Impl::end_replay() {
  if (!replaying) return;
  replaying = false;
  // Once the ring is full, its oldest entry is where the next one would have gone.
  const std::size_t size = replayed_times.size();
  for (std::size_t i = 0; i < size; ++i) {
    const auto& [task, took] = replayed_times[(replayed_count + i) % size];
    run_times.observe(workload.cost_of(task), took);
  }
  replayed_times = {};
}

void Engine::Impl::leave_queue(TaskId task) {
  const TaskRecord& record = tasks[task];
  if (record.state == TaskState::waiting)
    retries.remove(task);
  else if (record.state == TaskState::staging)
    leave_stage(task);
  else if (record.state == TaskState::pending && record.selected && task.value() <= cursor)
    ready.remove(task, needs_of(task));
}

void Engine::Impl::make_pending(TaskId task, bool first) {
  changed = true;
  tasks.set_state(task, TaskState::pending);
  if (tasks[task].selected && task.value() <= cursor) ready.push(task, needs_of(task), first);
}

void Engine::Impl::renew(TaskId task) {
  TaskRecord& record = tasks.edit(task);
  record.failures = 0;
  record.loss_points = 0;
  record.cancel = false;
  record.presumed_lost = false;
}

void Engine::Impl::hand_over(TaskId task, HostId host, const Resources& resources) {
  Outstanding attempt{.host = host, .cost = forecast::usable_cost(workload.cost_of(task))};
  if (const auto it = hosts.find(host); it != hosts.end()) {
    // An adopted attempt may run on a host that has become too small for it.
    if (schedule::slots(it->second.host, resources) > 0)
      attempt.load = schedule::share(it->second.host, resources);
    occupy(host, task, attempt.load);
    ++it->second.handed_over;
  }
  underway.cost += attempt.cost;
  outstanding.emplace(task, attempt);
  tasks.set_state(task, TaskState::handed_over);
}

void Engine::Impl::occupy(HostId host, TaskId task, schedule::Load load) {
  HostState& state = hosts.at(host);
  state.load += load;
  state.ongoing.push_back({task, forecast::usable_cost(workload.cost_of(task))});
  if (files.has_limit(state.host.site)) files.use(workload.files_of(task), state.host.site);
  show_load(state);
}

void Engine::Impl::vacate(HostId host, TaskId task, schedule::Load load) {
  const auto it = hosts.find(host);
  if (it == hosts.end()) return;
  it->second.load -= std::min(it->second.load, load);
  // Near the front: hosts work off what they were given in order.
  auto& ongoing = it->second.ongoing;
  const auto place = std::ranges::find(ongoing, task, &schedule::Ongoing::task);
  if (place != ongoing.end()) {
    ongoing.erase(place);
    const SiteId site = it->second.host.site;
    if (files.has_limit(site)) files.disuse(workload.files_of(task), site);
  }
  show_load(it->second);
  changed = true;
}

void Engine::Impl::mark_running(TaskId task, TimePoint at) {
  Outstanding& attempt = outstanding.at(task);
  attempt.started = at;
  if (const auto it = hosts.find(attempt.host); it != hosts.end()) {
    if (it->second.handed_over > 0) --it->second.handed_over;
    const auto ongoing = std::ranges::find(it->second.ongoing, task, &schedule::Ongoing::task);
    if (ongoing != it->second.ongoing.end()) ongoing->started = at;
  }
  underway.started += seconds(at.time_since_epoch());
  ++underway.running;
  tasks.set_state(task, TaskState::running);
}

bool Engine::Impl::release(TaskId task) {
  const auto node = outstanding.extract(task);
  const Outstanding& attempt = node.mapped();
  const bool was_running = tasks[task].state == TaskState::running;
  if (!attempt.computed) vacate(attempt.host, task, attempt.load);
  if (const auto it = hosts.find(attempt.host); it != hosts.end()) {
    if (!was_running && it->second.handed_over > 0) --it->second.handed_over;
  }
  underway.cost -= attempt.cost;
  if (was_running) {
    underway.started -= seconds(attempt.started.time_since_epoch());
    --underway.running;
  }
  if (outstanding.empty()) underway = {};  // nor do rounding errors add up
  return was_running;
}

void Engine::Impl::observe(const AttemptReport& report, HostId host) {
  if (report.cause == FailureCause::lost || report.cause == FailureCause::cancelled ||
      report.started == kNever || report.ended == kNever)
    return;
  const Duration took = report.ended - report.started;
  if (!replaying) {
    efficiency.observe(report.ended, took, slots_in_all());
    const double cost = workload.cost_of(report.key.task);
    // One that fails at once would make its host look fast.
    if (report.cause == FailureCause::none) seen.ran(host, cost, took);
    return run_times.observe(cost, took);
  }
  constexpr std::size_t kRing = forecast::RunTimeForecast::kMemory;
  if (replayed_times.size() < kRing)
    replayed_times.emplace_back(report.key.task, took);
  else
    replayed_times[replayed_count % kRing] = {report.key.task, took};
  ++replayed_count;
}

void Engine::Impl::settle(const AttemptReport& report, bool was_started) {
  const TaskId task = report.key.task;
  switch (report.cause) {
    case FailureCause::none:
      renew(task);
      tasks.set_state(task, TaskState::done);
      ever_succeeded = true;
      return;
    case FailureCause::lost:
      return settle_lost(task, was_started);
    case FailureCause::cancelled:
      // Cancelled in an earlier session, which ended before it heard of the end: this one goes on
      // with it.
      if (!replaying && !tasks[task].cancel) return settle_lost(task, was_started);
      return tasks.set_state(task, TaskState::cancelled);
    default:
      return settle_failure(report);
  }
}

void Engine::Impl::settle_lost(TaskId task, bool was_started) {
  TaskRecord& record = tasks.edit(task);
  if (record.cancel) return tasks.set_state(task, TaskState::cancelled);
  const std::uint8_t points = was_started ? kLossRunning : kLossQueued;
  record.loss_points =
      static_cast<std::uint8_t>(std::min(record.loss_points + points, +kLossLimit));
  if (record.loss_points >= kLossLimit && !replaying) return fail_for_good(task);
  make_pending(task);
}

void Engine::Impl::settle_failure(const AttemptReport& report) {
  const TaskId task = report.key.task;
  TaskRecord& record = tasks.edit(task);
  if (is_crowded(report.cause, report.code) && !replaying) return settle_crowded(report);
  record.loss_points = 0;
  constexpr std::uint32_t kMost = std::numeric_limits<std::uint16_t>::max();
  const bool again = !replaying && !record.cancel && record.selected &&
                     record.failures < std::min(workload.retry.retries, kMost) &&
                     worth_retrying(report.cause, report.code);
  if (!again) return fail_for_good(task);
  ++record.failures;
  const Duration wait = backoff_before(workload.retry, record.failures);
  if (wait <= Duration{0}) return make_pending(task, true);
  tasks.set_state(task, TaskState::waiting);
  retries.push(task, report.ended + wait);
}

void Engine::Impl::settle_crowded(const AttemptReport& report) {
  const TaskId task = report.key.task;
  TaskRecord& record = tasks.edit(task);
  if (record.cancel) return tasks.set_state(task, TaskState::cancelled);
  record.loss_points =
      static_cast<std::uint8_t>(std::min(record.loss_points + kLossQueued, +kLossLimit));
  if (record.loss_points >= kLossLimit) return fail_for_good(task);
  tasks.set_state(task, TaskState::waiting);
  retries.push(task, report.ended + kCrowdedWait);
}

void Engine::Impl::fail_for_good(TaskId task) {
  tasks.set_state(task, TaskState::failed);
  if (!replaying) ++failed_now;
}

void Engine::Impl::cancel(TaskId task) {
  TaskRecord& record = tasks.edit(task);
  switch (record.state) {
    case TaskState::pending:
    case TaskState::staging:
    case TaskState::waiting:
      leave_queue(task);
      record.cancel = true;
      return tasks.set_state(task, TaskState::cancelled);
    case TaskState::handed_over:
    case TaskState::running:
      if (!record.cancel) cancels.push_back(task);
      record.cancel = true;
      return;
    case TaskState::done:
    case TaskState::failed:
    case TaskState::cancelled:
      return;
  }
}

void Engine::Impl::drain(std::string reason) {
  if (draining.empty()) draining = std::move(reason);
}

}  // namespace gantry::engine
