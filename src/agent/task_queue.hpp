#pragma once
/// The tasks that wait on this host, and the room they wait for. A plain value: knows nothing of
/// processes. In order of arrival, but a task that does not fit may be overtaken by smaller ones, a
/// bounded number of times: then what ends makes room for it.

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <vector>

#include "agent/protocol.hpp"

namespace gantry::agent {

/// What a task takes of the host while it runs.
struct Claim {
  std::uint32_t cores = 0;
  std::uint64_t memory = 0;
  friend bool operator==(const Claim&, const Claim&) = default;
};

class TaskQueue {
 public:
  /// How deep to look past a task that does not fit, and how often it may be overtaken.
  static constexpr std::size_t kLookPast = 64;
  static constexpr unsigned kMaxOvertaken = 256;

  void set_capacity(std::uint32_t cores, std::uint64_t memory) {
    cores_ = cores;
    memory_ = memory;
  }

  void push(PackedStart start);
  /// The next task that may start now; its claim counts as used from here on. A task that is larger
  /// than the whole host gets it alone.
  std::optional<PackedStart> take();
  /// The first task that waits, if it takes exactly the room that a running one will leave; that
  /// room is its own when the running one ends, so it counts only once.
  std::optional<PackedStart> take_successor(const Claim& running);
  /// Puts back what take_successor() gave: it comes first again.
  void put_back(PackedStart start);
  /// May a task like this start now?
  [[nodiscard]] bool fits(const Claim& claim) const;
  /// A task that was taken has ended.
  void release(const Claim& claim);

  /// Removes a waiting task; false when it is not waiting.
  bool remove(const AttemptKey& key);
  /// Removes the waiting tasks that are wanted and tells which they were.
  std::vector<AttemptKey> remove_if(const std::function<bool(const AttemptKey&)>& is_wanted);
  void clear() { queue_.clear(); }

  [[nodiscard]] std::size_t waiting() const { return queue_.size(); }
  [[nodiscard]] unsigned running() const { return running_; }

 private:
  struct Entry {
    PackedStart start;
    unsigned overtaken = 0;
  };

  std::deque<Entry> queue_;
  std::uint32_t cores_ = 1;
  std::uint64_t memory_ = 0;
  std::uint64_t used_cores_ = 0;
  std::uint64_t used_memory_ = 0;
  unsigned running_ = 0;
};

/// Of a Start, packed or not.
template <class AnyStart>
Claim claim_of(const AnyStart& start) {
  return {std::max(start.cores, 1U), start.memory};
}

}  // namespace gantry::agent
