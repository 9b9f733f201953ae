#pragma once
/// The kernel's seconds and the engine's time. Moment 0 is not the engine's "never".

#include <chrono>
#include <cmath>

#include "base/time.hpp"

namespace gantry::simulate {

inline constexpr TimePoint kVirtualStart = TimePoint{} + std::chrono::hours(1);

/// To the nearest nanosecond, so that time_at(seconds_at(t)) is t.
inline TimePoint time_at(double seconds_from_start) {
  return kVirtualStart + Duration(std::llround(seconds_from_start * 1e9));
}
inline double seconds_at(TimePoint time) {
  return seconds(time - kVirtualStart);
}

}  // namespace gantry::simulate
