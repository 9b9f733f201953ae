#include "model/batch.hpp"

#include <algorithm>
#include <limits>

namespace gantry {

bool Batches::add(const Batch& batch) {
  const std::uint32_t there = task_count();
  const bool follows = batch.first.value() == there + 1;
  if (!follows || batch.count > std::numeric_limits<std::uint32_t>::max() - 1 - there) return false;
  batches_.push_back(batch);
  return true;
}

std::uint32_t Batches::task_count() const {
  return batches_.empty() ? 0 : batches_.back().end().value() - 1;
}

std::optional<TaskOrigin> Batches::find(TaskId task) const {
  if (task.value() == 0 || task.value() > task_count()) return std::nullopt;
  const auto after = std::ranges::upper_bound(batches_, task, {}, &Batch::first);
  // An empty batch begins where the next one does, and is never the last of those.
  const auto batch = std::prev(after);
  return TaskOrigin{batch->node, batch->iteration,
                    static_cast<std::uint32_t>(batch - batches_.begin()),
                    task.value() - batch->first.value()};
}

}  // namespace gantry
