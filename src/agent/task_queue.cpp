#include "agent/task_queue.hpp"

#include <algorithm>
#include <utility>

namespace gantry::agent {

void TaskQueue::push(PackedStart start) {
  queue_.push_back({std::move(start)});
}

bool TaskQueue::fits(const Claim& claim) const {
  if (running_ == 0) return true;  // more than the whole host: alone is the best we can do
  if (used_cores_ + claim.cores > cores_) return false;
  if (claim.memory == 0) return true;
  return used_memory_ <= memory_ && claim.memory <= memory_ - used_memory_;
}

std::optional<PackedStart> TaskQueue::take() {
  if (running_ > 0 && used_cores_ >= cores_) return std::nullopt;
  const std::size_t depth = std::min(queue_.size(), kLookPast);
  for (std::size_t i = 0; i < depth; ++i) {
    const Claim claim = claim_of(queue_[i].start);
    if (!fits(claim)) {
      if (queue_[i].overtaken >= kMaxOvertaken) return std::nullopt;
      continue;
    }
    for (std::size_t before = 0; before < i; ++before) ++queue_[before].overtaken;
    PackedStart start = std::move(queue_[i].start);
    queue_.erase(queue_.begin() + static_cast<std::ptrdiff_t>(i));
    used_cores_ += claim.cores;
    used_memory_ += claim.memory;
    ++running_;
    return start;
  }
  return std::nullopt;
}

std::optional<PackedStart> TaskQueue::take_successor(const Claim& running) {
  if (queue_.empty() || claim_of(queue_.front().start) != running) return std::nullopt;
  PackedStart start = std::move(queue_.front().start);
  queue_.pop_front();
  return start;
}

void TaskQueue::put_back(PackedStart start) {
  queue_.push_front({std::move(start)});
}

void TaskQueue::release(const Claim& claim) {
  used_cores_ -= claim.cores;
  used_memory_ -= claim.memory;
  --running_;
}

bool TaskQueue::remove(const AttemptKey& key) {
  const auto found = std::find_if(queue_.begin(), queue_.end(),
                                  [&](const Entry& entry) { return entry.start.key == key; });
  if (found == queue_.end()) return false;
  queue_.erase(found);
  return true;
}

std::vector<AttemptKey> TaskQueue::remove_if(
    const std::function<bool(const AttemptKey&)>& is_wanted) {
  std::vector<AttemptKey> keys;
  std::erase_if(queue_, [&](const Entry& entry) {
    if (!is_wanted(entry.start.key)) return false;
    keys.push_back(entry.start.key);
    return true;
  });
  return keys;
}

}  // namespace gantry::agent
