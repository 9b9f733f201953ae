#pragma once
/// The slots of an agent: as many shepherds as tasks run at once, made when they are needed and
/// used again. Owned by the agent.

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "agent/frame_stream.hpp"
#include "agent/protocol.hpp"
#include "agent/shepherd.hpp"
#include "agent/task_queue.hpp"
#include "base/result.hpp"
#include "base/time.hpp"

namespace gantry::agent {

/// A task that a slot has at hand: its shepherd begins it as soon as those before it have ended.
struct Successor {
  /// What becomes of it when the shepherd hands it back. In order: a stronger reason replaces a
  /// weaker one.
  enum class Recalled : std::uint8_t {
    no,         ///< the shepherd was not asked to
    to_queue,   ///< it comes first here again
    to_gantry,  ///< gantry wants it back
    cancelled,  ///< nobody wants it any more
  };
  PackedStart start;
  Recalled recalled = Recalled::no;
};

struct Slot {
  pid_t pid = -1;
  FrameStream stream;  ///< to its shepherd; closed when there is none
  bool busy = false;
  bool announced = false;  ///< gantry knows what runs
  bool has_hello = false;  ///< the shepherd knows the common environment
  Started current;
  std::int32_t checkpoint_signal = 0;  ///< what its task is to be told before the end; 0: nothing
  std::chrono::nanoseconds checkpoint_before{0};
  bool told = false;  ///< that the end is near
  Claim claim;
  std::optional<Duration> last_took;  ///< its last task
  std::deque<Successor> next;         ///< as far as we know; reports may be on their way
};

class SlotPool {
 public:
  /// `common` is what all shepherds have; its slot number does not count.
  explicit SlotPool(ShepherdConfig common) : common_(std::move(common)) {}

  [[nodiscard]] std::size_t size() const { return slots_.size(); }
  Slot& operator[](std::size_t index) { return *slots_[index]; }
  [[nodiscard]] auto begin() { return slots_.begin(); }
  [[nodiscard]] auto end() { return slots_.end(); }

  /// A slot that is free, with a living shepherd. `fresh` tells that the shepherd was started now.
  Result<std::size_t> acquire(bool& fresh);
  void release(std::size_t index);

  /// The shepherd is gone, or not to be trusted any more: ends it and everything that its task left
  /// behind, which is ours now.
  void bury(std::size_t index);

 private:
  [[nodiscard]] bool is_shepherd(pid_t pid) const;

  ShepherdConfig common_;
  std::vector<std::unique_ptr<Slot>> slots_;
  std::vector<std::size_t> idle_;
};

}  // namespace gantry::agent
