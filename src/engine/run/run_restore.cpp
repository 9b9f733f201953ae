// A run's state as its journal leaves it, to keep and to restore: see model/run_snapshot.hpp.
#include "engine/run/run.hpp"

namespace gantry::engine {

namespace {

TaskStanding standing_of(const TaskRecord& record) {
  switch (record.state) {
    case TaskState::done:
      return record.reused ? TaskStanding::reused : TaskStanding::done;
    case TaskState::failed:
      return TaskStanding::failed;
    case TaskState::cancelled:
      return TaskStanding::cancelled;
    default:
      return TaskStanding::open;
  }
}

TaskState state_of(TaskStanding standing) {
  switch (standing) {
    case TaskStanding::done:
    case TaskStanding::reused:
      return TaskState::done;
    case TaskStanding::failed:
      return TaskState::failed;
    case TaskStanding::cancelled:
      return TaskState::cancelled;
    case TaskStanding::open:
      return TaskState::pending;
  }
  return TaskState::pending;
}

}  // namespace

RunSnapshot Run::snapshot() const {
  RunSnapshot snapshot;
  snapshot.closed = closed;
  snapshot.ever_succeeded = ever_succeeded;
  snapshot.tasks.reserve(tasks.size());
  for (std::uint32_t i = 1; i <= tasks.size(); ++i) {
    const TaskRecord& record = tasks[TaskId(i)];
    snapshot.tasks.push_back({record.attempt, standing_of(record), record.cancel});
  }
  for (const auto& [key, site] : missing) snapshot.unheard.push_back(key);
  const std::size_t size = replayed_times.size();
  for (std::size_t i = 0; i < size; ++i)
    snapshot.run_times.push_back(replayed_times[(replayed_count + i) % size]);
  snapshot.memory.assign(replayed_memory.begin(), replayed_memory.end());
  snapshot.deaths = memory.deaths();
  return snapshot;
}

void Run::on(const RunRestored& event) {
  const RunSnapshot& state = event.state;
  closed = state.closed;
  ever_succeeded = state.ever_succeeded;
  const auto count = static_cast<std::uint32_t>(state.tasks.size());
  if (count > tasks.size()) add_tasks(count - tasks.size());
  TaskId task(1);
  for (const TaskSnapshot& each : state.tasks) {
    TaskRecord& record = tasks.edit(task);
    record.attempt = each.attempt;
    record.cancel = each.cancel;
    if (each.standing != TaskStanding::open)
      tasks.set_state(task, state_of(each.standing), each.standing == TaskStanding::reused);
    task = TaskId(task.value() + 1);
  }
  for (const AttemptKey& key : state.unheard) missing.emplace(key, kHome);
  replayed_times = state.run_times;
  replayed_count = replayed_times.size();
  replayed_memory.assign(state.memory.begin(), state.memory.end());
  for (const MemoryDeath& death : state.deaths) memory.restore(death);
}

}  // namespace gantry::engine
