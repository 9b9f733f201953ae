#pragma once
/// For tests: moments.

#include "base/time.hpp"

namespace gantry::engine {

inline TimePoint at(int s) {
  return TimePoint{} + std::chrono::hours(1) + std::chrono::seconds(s);
}

}  // namespace gantry::engine
