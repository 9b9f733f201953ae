#include "base/time.hpp"

#include <time.h>

namespace gantry {

namespace {

Duration read_clock(clockid_t which) {
  timespec time{};
  ::clock_gettime(which, &time);
  return std::chrono::seconds(time.tv_sec) + Duration(time.tv_nsec);
}

}  // namespace

TimePoint RealClock::now() const {
  return TimePoint{read_clock(CLOCK_REALTIME)};
}

MonotonicClock::MonotonicClock()
    : offset_(read_clock(CLOCK_REALTIME) - read_clock(CLOCK_BOOTTIME)) {}

TimePoint MonotonicClock::now() const {
  return TimePoint{offset_ + read_clock(CLOCK_BOOTTIME)};
}

}  // namespace gantry
