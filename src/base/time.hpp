#pragma once
/// Time as the engine sees it: nanoseconds since the Unix epoch, handed in by a Clock. Only the
/// real clock below reads the system's; the simulator has its own.

#include <chrono>
#include <cstdint>
#include <ctime>

namespace gantry {

using Duration = std::chrono::nanoseconds;
/// A point in real or virtual time. Default-constructed means "never / unknown".
using TimePoint = std::chrono::time_point<std::chrono::system_clock, Duration>;

inline constexpr TimePoint kNever{};

class Clock {
 public:
  virtual ~Clock() = default;
  [[nodiscard]] virtual TimePoint now() const = 0;
};

/// The system's clock, which somebody may set at any time: for stamps.
class RealClock final : public Clock {
 public:
  [[nodiscard]] TimePoint now() const override;
};

/// The system's time when it was made, and from then on what has passed, suspension included: goes
/// on evenly whatever is done to the system's clock. For decisions.
class MonotonicClock final : public Clock {
 public:
  MonotonicClock();
  [[nodiscard]] TimePoint now() const override;

 private:
  Duration offset_;  ///< from the time since the machine was started
};

/// The kernel's coarse clock, which stamps files, moves on every 10 ms at the slowest: a stamp may
/// lag by this much, and two writes within that time may look the same.
inline constexpr Duration kStampLag = std::chrono::milliseconds(20);

inline double seconds(Duration d) {
  return std::chrono::duration<double>(d).count();
}
inline Duration from_seconds(double s) {
  return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(s));
}
inline std::int64_t to_ns(TimePoint t) {
  return t.time_since_epoch().count();
}
inline std::int64_t to_ns(const timespec& t) {
  return std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}
inline TimePoint from_ns(std::int64_t ns) {
  return TimePoint{Duration{ns}};
}

}  // namespace gantry
