#include "base/time.hpp"

namespace gantry {

TimePoint RealClock::now() const {
  return std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now());
}

}  // namespace gantry
