#pragma once
/// When to plan next, step (1) of sched(): after a fixed time, or after one that follows from how
/// far off the last plan was. A plain value.

#include <algorithm>

#include "base/time.hpp"
#include "schedule/planning.hpp"

namespace gantry::schedule {

class EventInterval {
 public:
  /// Never: plan once. `adaptive`: between an eighth and eight times of it.
  EventInterval(Seconds first, bool adaptive)
      : least_(adaptive ? first / kRange : first),
        most_(adaptive ? first * kRange : first),
        now_(first) {}

  [[nodiscard]] Seconds seconds() const { return now_; }
  /// The next event after one at `time`.
  [[nodiscard]] TimePoint after(TimePoint time) const {
    return now_ < kInfinite ? time + from_seconds(now_) : kNever;
  }

  /// Between two looks at whether a plan still holds.
  [[nodiscard]] Seconds pause() const { return now_ < kInfinite ? now_ / kRange : kInfinite; }

  /// `deviation`: by which part of the time ahead tasks began earlier or later than planned.
  void learn(double deviation) {
    if (deviation > kPoor) now_ = std::max(now_ / 2, least_);
    if (deviation < kGood) now_ = std::min(now_ * 2, most_);
  }

 private:
  static constexpr double kRange = 8;
  static constexpr double kGood = 0.02;
  static constexpr double kPoor = 0.1;

  Seconds least_;
  Seconds most_;
  Seconds now_;
};

}  // namespace gantry::schedule
