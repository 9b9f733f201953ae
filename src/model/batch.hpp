#pragma once
/// Tasks are created in batches: all points of a sweep at once, the points that an edit adds, or a
/// step of a search. Task numbers are dense and only ever appended. Plain values; any thread.

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/hash.hpp"
#include "model/ids.hpp"

namespace gantry {

/// A range of consecutive points, in the order in which the study enumerates them, from 0.
struct PointRange {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
  friend bool operator==(const PointRange&, const PointRange&) = default;
};

/// The points of consecutive tasks.
using PointOrder = std::vector<PointRange>;

/// Points that the sweep with this digest makes from their index: only their positions are stored.
struct EnumeratedPoints {
  Digest sweep;
  PointOrder order;
  friend bool operator==(const EnumeratedPoints&, const EnumeratedPoints&) = default;
};

/// Points that were chosen one by one: the parameters' values of each, in order.
struct ListedPoints {
  std::vector<std::vector<std::string>> rows;
  friend bool operator==(const ListedPoints&, const ListedPoints&) = default;
};

using Points = std::variant<EnumeratedPoints, ListedPoints>;

/// Tasks first … first + count - 1 of a run.
struct Batch {
  NodeId node;
  std::uint32_t iteration = 0;  ///< iteration of the loop that the node is part of
  TaskId first{1};
  std::uint32_t count = 0;
  friend bool operator==(const Batch&, const Batch&) = default;

  /// The number of the task that the next batch begins with.
  [[nodiscard]] TaskId end() const { return TaskId(first.value() + count); }
};

/// A batch as it was journalled.
struct AddedBatch {
  Batch batch;
  Points points;
};

/// What a task's number refers to.
struct TaskOrigin {
  NodeId node;
  std::uint32_t iteration = 0;
  std::uint32_t batch = 0;  ///< from 0
  std::uint32_t index = 0;  ///< among the batch's points, from 0
  friend bool operator==(const TaskOrigin&, const TaskOrigin&) = default;
};

/// The batches of a run, in the order in which they came.
class Batches {
 public:
  /// False, and nothing changes, unless the batch follows the last one and there are enough task
  /// numbers.
  bool add(const Batch& batch);
  [[nodiscard]] std::uint32_t task_count() const;
  [[nodiscard]] const std::vector<Batch>& all() const { return batches_; }
  /// Nothing if no task has this number.
  [[nodiscard]] std::optional<TaskOrigin> find(TaskId task) const;

 private:
  std::vector<Batch> batches_;
};

}  // namespace gantry
