#pragma once
/// Tasks that wait for their back-off to end, by time. Owned by the engine.

#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/time.hpp"
#include "model/ids.hpp"
#include "model/outcome.hpp"
#include "model/task.hpp"

namespace gantry::engine {

class RetryQueue {
 public:
  /// REQUIRES: not in the queue.
  void push(TaskId task, TimePoint due) {
    due_.emplace(task, due);
    order_.emplace(due, task);
  }
  /// Nothing happens when it is not in the queue.
  void remove(TaskId task) {
    const auto it = due_.find(task);
    if (it == due_.end()) return;
    order_.erase({it->second, task});
    due_.erase(it);
  }
  /// The next task whose time has come.
  std::optional<TaskId> pop_due(TimePoint now) {
    if (order_.empty() || order_.begin()->first > now) return std::nullopt;
    const TaskId task = order_.begin()->second;
    remove(task);
    return task;
  }
  /// The first so many, and when their time comes.
  [[nodiscard]] std::vector<std::pair<TaskId, TimePoint>> first(std::size_t most) const {
    std::vector<std::pair<TaskId, TimePoint>> tasks;
    for (auto it = order_.begin(); it != order_.end() && tasks.size() < most; ++it)
      tasks.emplace_back(it->second, it->first);
    return tasks;
  }
  /// When the next one's time comes; kNever when none waits.
  [[nodiscard]] TimePoint next() const { return order_.empty() ? kNever : order_.begin()->first; }
  /// When the last one's time comes; kNever when none waits.
  [[nodiscard]] TimePoint last() const { return order_.empty() ? kNever : order_.rbegin()->first; }

 private:
  std::map<TaskId, TimePoint> due_;
  std::set<std::pair<TimePoint, TaskId>> order_;
};

/// How long the n-th retry (from 1) waits.
[[nodiscard]] Duration backoff_before(const RetryPolicy& policy, std::uint32_t retry);

/// The machine's fault, not the task's: it had no room for one more process or open file.
[[nodiscard]] bool is_crowded(FailureCause cause, std::int32_t code);

/// Could another try end differently? A program that does not exist stays away; a busy machine
/// recovers.
[[nodiscard]] bool worth_retrying(FailureCause cause, std::int32_t code);

}  // namespace gantry::engine
