// What becomes of a task whose attempt has ended or is lost.
#include <algorithm>
#include <utility>

#include "engine/run/run.hpp"

namespace gantry::engine {

namespace {
/// Of kLossLimit: ten losses while it ran, or a hundred while it only lay in the host's queue,
/// where it is unlikely to be the culprit.
constexpr std::uint8_t kLossRunning = 10;
constexpr std::uint8_t kLossQueued = 1;
/// Before a task is tried again for which the machine had no room, a hundred times at most.
constexpr Duration kCrowdedWait = std::chrono::seconds(1);
}  // namespace

void Run::settle(const AttemptReport& report, bool was_started) {
  const TaskId task = report.key.task;
  switch (report.cause) {
    case FailureCause::none:
      dismiss_rest(task);
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
    case FailureCause::checkpointed:
      if (tasks[task].cancel) return tasks.set_state(task, TaskState::cancelled);
      return make_pending(task);
    default:
      return settle_failure(report);
  }
}

void Run::settle_lost(TaskId task, bool was_started) {
  const TaskRecord& record = tasks[task];
  if (record.cancel) return tasks.set_state(task, TaskState::cancelled);
  add_loss(task, was_started);
  if (record.loss_points >= kLossLimit && !replaying) return fail_for_good(task);
  make_pending(task);
}

void Run::add_loss(TaskId task, bool was_started) {
  TaskRecord& record = tasks.edit(task);
  const std::uint8_t points = was_started ? kLossRunning : kLossQueued;
  record.loss_points =
      static_cast<std::uint8_t>(std::min(record.loss_points + points, +kLossLimit));
}

/// It was not lost: only the way to its host was.
void Run::forgive_loss(TaskId task) {
  TaskRecord& record = tasks.edit(task);
  record.loss_points -= std::min(record.loss_points, kLossRunning);
}

void Run::settle_failure(const AttemptReport& report) {
  const TaskId task = report.key.task;
  TaskRecord& record = tasks.edit(task);
  if (is_crowded(report.cause, report.code) && !replaying) return settle_crowded(report);
  record.loss_points = 0;
  if (report.cause == FailureCause::out_of_memory && learns_memory_of(task)) {
    const bool more = !replaying && !record.cancel && record.selected && gets_more_memory(task);
    return more ? make_pending(task, true) : fail_for_good(task);
  }
  constexpr std::uint32_t kMost = std::numeric_limits<std::uint16_t>::max();
  const RetryPolicy retry = workload.retry_of(task);
  const bool again = !replaying && !record.cancel && record.selected &&
                     record.failures < std::min(retry.retries, kMost) &&
                     worth_retrying(report.cause, report.code);
  if (!again) return fail_for_good(task);
  ++record.failures;
  const Duration wait = backoff_before(retry, record.failures);
  if (wait <= Duration{0}) return make_pending(task, true);
  tasks.set_state(task, TaskState::waiting);
  retries.push(task, report.ended + wait);
}

void Run::settle_crowded(const AttemptReport& report) {
  const TaskId task = report.key.task;
  TaskRecord& record = tasks.edit(task);
  if (record.cancel) return tasks.set_state(task, TaskState::cancelled);
  record.loss_points =
      static_cast<std::uint8_t>(std::min(record.loss_points + kLossQueued, +kLossLimit));
  if (record.loss_points >= kLossLimit) return fail_for_good(task);
  tasks.set_state(task, TaskState::waiting);
  retries.push(task, report.ended + kCrowdedWait);
}

void Run::fail_for_good(TaskId task) {
  book.start_over(task);
  tasks.set_state(task, TaskState::failed);
  if (!replaying) ++failed_now;
}

}  // namespace gantry::engine
