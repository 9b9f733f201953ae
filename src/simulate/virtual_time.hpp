#pragma once
/// The kernel's seconds and the engine's time. Moment 0 is not the engine's "never".

#include <chrono>
#include <cmath>

#include "base/time.hpp"

namespace gantry::simulate {

/// A hundred years, in seconds: nobody waits for longer, and the engine's time still holds it.
inline constexpr double kLongestRun = 100.0 * 365 * 86400;

inline constexpr TimePoint kVirtualStart = TimePoint{} + std::chrono::hours(1);

/// REQUIRES: at most kLongestRun. To the nearest nanosecond, so that time_at(seconds_at(t)) is t.
inline TimePoint time_at(double seconds_from_start) {
  return kVirtualStart + Duration(std::llround(seconds_from_start * 1e9));
}
inline double seconds_at(TimePoint time) {
  return seconds(time - kVirtualStart);
}

}  // namespace gantry::simulate
