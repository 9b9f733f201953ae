#pragma once
/// How many jobs of a batch site are worth having: as many as what waits can use, and no more. Pure
/// functions of what the pool knows.

#include <cstdint>
#include <span>

namespace gantry {

/// What can be expected of a job that becomes a host.
struct PilotUse {
  enum class Stage : std::uint8_t {
    absent,  ///< or about to be
    coming,  ///< in the queue, or started and not yet heard of
    up,
  };
  Stage stage = Stage::absent;
  std::uint32_t slots = 1;
  std::uint32_t free = 0;  ///< of a job that is up: slots that nothing was given to
  /// It has been up and free for a while, and nothing was given to it, although something waits:
  /// too little of its time may be left.
  bool shunned = false;
};

/// Cores that those jobs offer which are there or will be.
[[nodiscard]] std::uint64_t offered_cores(std::span<const PilotUse> pilots);

/// Is another job worth submitting, when tasks with so many cores wait?
[[nodiscard]] inline bool is_another_needed(std::uint64_t waiting_cores,
                                            std::span<const PilotUse> pilots) {
  return waiting_cores > offered_cores(pilots);
}

/// Would what waits be served without this one? Of one in which a task runs the answer is no.
[[nodiscard]] bool is_superfluous(std::uint64_t waiting_cores, std::span<const PilotUse> pilots,
                                  std::size_t index);

}  // namespace gantry
