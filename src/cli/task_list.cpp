#include "cli/task_list.hpp"

namespace gantry::cli {
namespace {

/// Up to so many tasks are looked up one by one; for more the whole run is read in order.
constexpr std::uint64_t kFewTasks = 256;

}  // namespace

std::string_view to_string(TaskState state) {
  switch (state) {
    case TaskState::pending:
      return "pending";
    case TaskState::done:
      return "done";
    case TaskState::failed:
      return "failed";
    case TaskState::cancelled:
      return "cancelled";
  }
  return "unknown";
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
                       const TaskFilter& filter, const TaskSink& sink) {
  const std::uint32_t size = record.counts.total;
  if (filter.selector.count(size) <= kFewTasks) {
    for (const TaskId task : filter.selector.tasks(size)) {
      TRY_ASSIGN(const auto row, store.task(record.id, task));
      const store::TaskRow* found = row ? &*row : nullptr;
      if (filter.takes(state_of(found))) sink(task, found);
    }
    return {};
  }
  std::uint64_t next = 1;  // the first task that was not looked at
  const auto pass_unended = [&](std::uint64_t before) {
    if (!filter.takes(TaskState::pending)) next = before;
    for (; next < before; ++next)
      if (const TaskId task(static_cast<std::uint32_t>(next)); filter.selector.contains(task))
        sink(task, nullptr);
  };
  TRY(store.for_each_task(record.id, [&](const store::TaskRow& row) {
    if (row.task.value() < next || row.task.value() > size) return;
    pass_unended(row.task.value());
    ++next;
    if (filter.selector.contains(row.task) && filter.takes(state_of(&row))) sink(row.task, &row);
  }));
  pass_unended(std::uint64_t{size} + 1);
  return {};
}

}  // namespace gantry::cli
