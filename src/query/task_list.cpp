#include "query/task_list.hpp"

#include <array>
#include <variant>
#include <vector>

namespace gantry::query {
namespace {

/// Up to so many tasks are looked up one by one; for more the whole run is read in order.
constexpr std::uint64_t kFewTasks = 256;

/// Not ended for good: a failed task is tried again, which the store does not know yet.
bool may_be_elsewhere(TaskState state) {
  return state == TaskState::pending || state == TaskState::failed;
}

/// By task number: asked to be cancelled, and nothing happened to it since. Empty when the run
/// counts nothing as cancelled: whoever goes on with a run starts those tasks again, which is not
/// journalled.
Result<std::vector<bool>> cancelled_unstarted(const store::Store& store,
                                              const store::RunRecord& record) {
  std::vector<bool> asked;
  if (record.counts.cancelled == 0) return asked;
  asked.resize(std::size_t{record.counts.total} + 1, false);
  const auto mark = [&](TaskId task, bool is_asked) {
    if (task.value() < asked.size()) asked[task.value()] = is_asked;
  };
  TRY(store.replay(record.id, [&](const Event& event) {
    if (const auto* cancel = std::get_if<CancelRequested>(&event)) {
      if (cancel->all) asked.assign(asked.size(), true);
      for (const TaskId task : cancel->tasks) mark(task, true);
    } else if (const auto* ended = std::get_if<AttemptEnded>(&event)) {
      mark(ended->report.key.task, false);
    } else if (const auto* reused = std::get_if<TaskReused>(&event)) {
      mark(reused->task, false);
    } else if (const auto* invalidated = std::get_if<TaskInvalidated>(&event)) {
      mark(invalidated->task, false);
    }
  }));
  return asked;
}

}  // namespace

std::string_view to_string(TaskState state) {
  constexpr std::array<std::string_view, 6> kNames{"pending", "running", "unknown",
                                                   "done",    "failed",  "cancelled"};
  return kNames[static_cast<std::size_t>(state)];
}

TaskState state_of(const store::TaskRow* row) {
  if (row == nullptr || row->invalidated) return TaskState::pending;
  if (row->reused || row->cause == FailureCause::none) return TaskState::done;
  return row->cause == FailureCause::cancelled ? TaskState::cancelled : TaskState::failed;
}

bool TaskFilter::takes(TaskState state) const {
  if (any_state()) return true;
  switch (state) {
    case TaskState::pending:
    case TaskState::running:
    case TaskState::unknown:
      return pending;
    case TaskState::done:
      return done;
    case TaskState::failed:
      return failed;
    case TaskState::cancelled:
      return cancelled;
  }
  return false;
}

Result<> for_each_task(const store::Store& store, const store::RunRecord& record,
                       const TaskFilter& filter, const TaskSink& sink, const AgentView& agent) {
  const std::uint32_t size = record.counts.total;
  TRY_ASSIGN(const auto cancelled, cancelled_unstarted(store, record));
  const auto pass = [&](TaskId task, const store::TaskRow* row) {
    TaskState state = state_of(row);
    if (state == TaskState::pending && !cancelled.empty() && cancelled[task.value()])
      state = TaskState::cancelled;
    const AgentTask* known = agent.find(record.id, task, row);
    if (known != nullptr && known->state == AgentTask::State::running) state = TaskState::running;
    if (known != nullptr && known->state == AgentTask::State::unseen && may_be_elsewhere(state))
      state = TaskState::unknown;
    if (filter.takes(state)) sink(task, state, row);
  };
  if (filter.selector.count(size) <= kFewTasks) {
    for (const TaskId task : filter.selector.tasks(size)) {
      TRY_ASSIGN(const auto row, store.task(record.id, task));
      pass(task, row ? &*row : nullptr);
    }
    return {};
  }
  const bool wants_unended = filter.takes(TaskState::pending) || filter.takes(TaskState::cancelled);
  std::uint64_t next = 1;  // the first task that was not looked at
  const auto pass_unended = [&](std::uint64_t before) {
    if (!wants_unended) next = before;
    for (; next < before; ++next)
      if (const TaskId task(static_cast<std::uint32_t>(next)); filter.selector.contains(task))
        pass(task, nullptr);
  };
  TRY(store.for_each_task(record.id, [&](const store::TaskRow& row) {
    if (row.task.value() < next || row.task.value() > size) return;
    pass_unended(row.task.value());
    ++next;
    if (filter.selector.contains(row.task)) pass(row.task, &row);
  }));
  pass_unended(std::uint64_t{size} + 1);
  return {};
}

}  // namespace gantry::query
