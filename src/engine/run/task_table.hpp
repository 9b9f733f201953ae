#pragma once
/// The state of every task, eight bytes each, and the counts that follow from it. Owned by the
/// engine.

#include <cstdint>
#include <vector>

#include "engine/engine.hpp"

namespace gantry::engine {

struct TaskRecord {
  std::uint32_t attempt = 0;     ///< highest number used
  std::uint16_t failures = 0;    ///< failed attempts since the task last became new
  std::uint8_t loss_points = 0;  ///< attempts lost in a row, weighted
  TaskState state : 3 = TaskState::pending;
  bool selected : 1 = true;  ///< may be started in this session, and finished() waits for it
  bool cancel : 1 = false;   ///< a person cancelled it in this session
  bool reused : 1 = false;   ///< done by the result of an earlier run
};
static_assert(sizeof(TaskRecord) == 8, "a million tasks must stay small");

class TaskTable {
 public:
  explicit TaskTable(std::uint32_t count) : records_(count) {
    all_.total = all_.pending = count;
    selected_ = all_;
  }

  /// Adds pending tasks.
  void append(std::uint32_t count) {
    records_.resize(records_.size() + count);
    for (Counts* counts : {&all_, &selected_}) {
      counts->total += count;
      counts->pending += count;
    }
  }

  [[nodiscard]] std::uint32_t size() const { return all_.total; }
  [[nodiscard]] bool contains(TaskId task) const {
    return task.value() >= 1 && task.value() <= size();
  }
  /// REQUIRES (here and below): contains(task).
  [[nodiscard]] const TaskRecord& operator[](TaskId task) const {
    return records_[task.value() - 1];
  }
  /// For changes to anything but state, selected and reused, which the counts depend on.
  [[nodiscard]] TaskRecord& edit(TaskId task) { return records_[task.value() - 1]; }

  void set_state(TaskId task, TaskState state, bool reused = false);
  void select(TaskId task, bool selected);

  [[nodiscard]] const Counts& all() const { return all_; }
  [[nodiscard]] const Counts& selected() const { return selected_; }

 private:
  /// Takes the task out of the counts (by = -1) or puts it in (+1).
  void count(const TaskRecord& record, int by);

  std::vector<TaskRecord> records_;
  Counts all_;
  Counts selected_;
};

}  // namespace gantry::engine
