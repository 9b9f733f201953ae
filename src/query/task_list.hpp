#pragma once
/// Walks over the tasks of a stored run: those that ended are in the store, the others follow from
/// the run's size.

#include <functional>
#include <optional>
#include <string_view>

#include "query/agent_view.hpp"
#include "query/selector.hpp"
#include "store/store.hpp"

namespace gantry::query {

enum class TaskState {
  pending,
  running,
  unknown,  ///< it was at a site when its gantry was killed
  done,
  failed,
  cancelled
};

std::string_view to_string(TaskState state);
/// The state according to the row alone, which is null for a task that never ended.
TaskState state_of(const store::TaskRow* row);

struct TaskFilter {
  TaskSelector selector;
  bool pending = false;  ///< pending, running or unknown
  bool done = false;
  bool failed = false;
  bool cancelled = false;

  [[nodiscard]] bool any_state() const { return !pending && !done && !failed && !cancelled; }
  [[nodiscard]] bool takes(TaskState state) const;
};

/// `row` is null for a task that never ended.
using TaskSink = std::function<void(TaskId task, TaskState state, const store::TaskRow* row)>;

/// Calls the sink for every task that the filter selects, by number. A task that was cancelled
/// before it started has no row, but counts as cancelled until the run continues. `agent` knows
/// which pending tasks run, or may. REQUIRES: the selector was made by within(the run's size).
Result<> for_each_task(const store::Store& store, const store::RunRecord& record,
                       const TaskFilter& filter, const TaskSink& sink, const AgentView& agent = {});

}  // namespace gantry::query
