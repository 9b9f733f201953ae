#pragma once
/// The tasks that could be started now, by class (equal needs) and in order. Holds a window of
/// the sweep, not all of it: the engine moves tasks in as it hands others out. Owned by the engine.

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "schedule/scheduler.hpp"

namespace gantry::engine {

class ReadyQueue {
 public:
  using Placeable = std::function<bool(const TaskNeeds&)>;

  /// `placeable` tells whether some host can run tasks of a class.
  explicit ReadyQueue(Placeable placeable) : placeable_(std::move(placeable)) {}

  /// Tasks are handed out by number, those pushed with `first` before all others. REQUIRES: not in
  /// the queue.
  void push(TaskId task, TaskNeeds needs, bool first);
  /// Does nothing if the task is not in the queue. Fast if it was pushed with these needs.
  void remove(TaskId task, const TaskNeeds& needs);
  /// Needs have changed: moves tasks to their new classes. Looks at `most` tasks; if there are
  /// more, at the first ones of every class. True if a task moved.
  bool sort_anew(const std::function<TaskNeeds(TaskId)>& needs_of, std::size_t most);
  /// The next task of the class; nothing when there is no such class (any more).
  std::optional<TaskId> take(schedule::ClassId id);
  /// The hosts have changed.
  void judge_again();
  /// Needs have changed: sorts all tasks into new classes, in the same order.
  void sort_again(const std::function<TaskNeeds(TaskId)>& needs_of);

  /// Some task of a class of view().
  [[nodiscard]] static TaskId first_of(const schedule::ReadyClass& ready);

  /// The share of the grid to which its tasks are entitled.
  void set_share(double share);

  [[nodiscard]] bool empty() const { return classes_.empty(); }
  [[nodiscard]] std::size_t size() const { return count_; }
  /// How many tasks some host can run.
  [[nodiscard]] std::size_t placeable() const { return placeable_count_; }
  /// nullptr when there is no such class (any more).
  [[nodiscard]] const TaskNeeds* needs(schedule::ClassId id) const;
  /// The first of all tasks. REQUIRES: !empty().
  [[nodiscard]] TaskId front() const;
  /// For a strategy; valid until the queue changes.
  [[nodiscard]] std::span<const schedule::ReadyClass> view() const { return view_; }

 private:
  struct Class {
    TaskNeeds needs;
    bool placeable = false;
    std::deque<std::uint64_t> places;  ///< sorted; each holds the task's number in its low half
  };
  struct Less {
    bool operator()(const TaskNeeds& a, const TaskNeeds& b) const;
  };
  using Classes = std::map<schedule::ClassId, Class>;

  Classes::iterator class_for(TaskNeeds needs);
  void put(std::uint64_t place, TaskNeeds needs);
  bool remove_from(Classes::iterator it, TaskId task);
  void erase_place(Classes::iterator it, std::deque<std::uint64_t>::iterator place);

  Placeable placeable_;
  Classes classes_;                         ///< none is empty
  std::vector<schedule::ReadyClass> view_;  ///< of classes_, in their order
  std::map<TaskNeeds, schedule::ClassId, Less> by_needs_;
  std::size_t count_ = 0;
  std::size_t placeable_count_ = 0;
  double share_ = 1;
  std::uint32_t last_id_ = 0;
};

}  // namespace gantry::engine
