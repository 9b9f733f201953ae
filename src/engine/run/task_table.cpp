#include "engine/run/task_table.hpp"

namespace gantry::engine {

namespace {

std::uint32_t& counter(Counts& counts, TaskState state) {
  switch (state) {
    case TaskState::pending:
      return counts.pending;
    case TaskState::staging:
      return counts.staging;
    case TaskState::handed_over:
      return counts.handed_over;
    case TaskState::running:
      return counts.running;
    case TaskState::waiting:
      return counts.waiting;
    case TaskState::done:
      return counts.done;
    case TaskState::failed:
      return counts.failed;
    case TaskState::cancelled:
      break;
  }
  return counts.cancelled;
}

void add(Counts& counts, const TaskRecord& record, std::uint32_t by) {
  counter(counts, record.state) += by;
  if (record.reused) counts.reused += by;
}

}  // namespace

void TaskTable::count(const TaskRecord& record, int by) {
  const auto step = static_cast<std::uint32_t>(by);  // -1 wraps round, as unsigned sums may
  add(all_, record, step);
  if (record.selected) add(selected_, record, step);
}

void TaskTable::set_state(TaskId task, TaskState state, bool reused) {
  TaskRecord& record = edit(task);
  count(record, -1);
  record.state = state;
  record.reused = reused;
  count(record, +1);
}

void TaskTable::select(TaskId task, bool selected) {
  TaskRecord& record = edit(task);
  if (record.selected == selected) return;
  count(record, -1);
  selected_.total += selected ? 1U : static_cast<std::uint32_t>(-1);
  record.selected = selected;
  count(record, +1);
}

}  // namespace gantry::engine
