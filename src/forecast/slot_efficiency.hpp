#pragma once
/// Which part of their time the slots run tasks; the rest is the gaps between two of them, which
/// matter when tasks take milliseconds. Learnt from the ends of attempts. Older observations fade.
/// Values only, no clock.

#include <cstdint>
#include <optional>

#include "base/time.hpp"

namespace gantry::forecast {

class SlotEfficiency {
 public:
  /// An attempt that took so long ended then, while there were so many slots.
  void observe(TimePoint ended, Duration took, std::uint64_t slots);

  /// In (0, 1]; 1 until enough ends are known.
  [[nodiscard]] double value() const;

 private:
  std::optional<TimePoint> last_end_;
  std::uint32_t observations_ = 0;
  // Sums in which an observation weighs a little less with each later one.
  double busy_ = 0;       ///< seconds of tasks
  double available_ = 0;  ///< seconds of slots
};

}  // namespace gantry::forecast
