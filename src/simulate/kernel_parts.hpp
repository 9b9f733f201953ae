#pragma once
/// The kernel's own records of activities, hosts and links. For kernel.hpp alone.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "simulate/event_heap.hpp"
#include "simulate/kernel_world.hpp"

namespace gantry::simulate {

inline constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

enum class ActivityKind : std::uint8_t {
  // What the driver asks for.
  timer,
  computation,
  transfer,
  // Alarms of the kernel's own; each host and link keeps its own.
  host_change,
  link_change,
  first_flow,  ///< the first transfer of a fair link ends
};

enum class ActivityState : std::uint8_t {
  free,     ///< the record is not in use
  asleep,   ///< an alarm or timer, in the queue or not
  waiting,  ///< for a slot or a stream; in the list of those who do
  latency,  ///< a transfer that has a stream but no byte yet
  running,
  failed,  ///< its event comes next; amount is what is left
};

struct Activity {
  Token token;
  std::uint64_t order = 0;  ///< decides between equal times
  double amount = 0;        ///< work, or bytes
  double started = 0;       ///< when it began to run
  std::uint32_t resource = kNone;
  std::uint32_t slots = 1;
  std::uint32_t before = kNone;  ///< neighbours in its list
  std::uint32_t after = kNone;
  std::uint32_t generation = 0;  ///< how often the record was used: an old ActivityId finds nothing
  ActivityKind kind = ActivityKind::timer;
  ActivityState state = ActivityState::free;
};

/// The ends of a chain of activities; each is in one chain at most.
struct ActivityList {
  std::uint32_t first = kNone;
  std::uint32_t last = kNone;
};

/// Where we are in a list of outages.
struct Outages {
  std::vector<Outage> list;
  std::size_t next = 0;
  bool down = false;  ///< in list[next]
  std::uint32_t alarm = kNone;

  /// When the next one begins, or this one ends.
  [[nodiscard]] double next_change() const {
    if (next == list.size()) return kForever;
    return down ? list[next].until : list[next].from;
  }
};

struct Host {
  double speed = 1;
  Trace availability;
  std::uint32_t slots = 1;
  std::uint32_t free_slots = 1;
  ActivityList waiting;
  ActivityList running;
  Outages outages;
  bool failed = false;  ///< the driver said so

  [[nodiscard]] bool up() const { return !outages.down && !failed; }
};

struct Link {
  Trace bandwidth;
  double latency = 0;
  LinkSharing sharing = LinkSharing::fifo;
  std::uint32_t streams = 1;
  std::uint32_t free_streams = 1;
  ActivityList waiting;
  ActivityList running;  ///< those in their latency included
  Outages outages;
  bool failed = false;
  /// A fair link counts, since it was last idle, the bytes that each of its transfers got. A
  /// transfer that begins when the count is c ends when it is c + its bytes, whatever the others
  /// do: so an event changes one key, not all of them.
  double clock = 0;
  double clock_at = 0;  ///< when the clock was read
  EventHeap flows;      ///< by the clock at their end
  std::uint32_t first_flow = kNone;

  [[nodiscard]] bool fair() const { return sharing == LinkSharing::fair; }
  [[nodiscard]] bool up() const { return !outages.down && !failed; }
};

}  // namespace gantry::simulate
