#pragma once
/// Run times as they were seen on a host, for a cost of 1: the last few dozen, not only what they
/// are like on average. When they are suddenly others, what was before counts no more. A value of
/// bounded size; no clock.

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "base/time.hpp"

namespace gantry::forecast {

class RunTimeSample {
 public:
  static constexpr std::size_t kMost = 64;

  /// A task that started then was done in so many seconds for a cost of 1, its attempts that died
  /// included. What is absurd says nothing.
  void observe(TimePoint started, double seconds);

  [[nodiscard]] bool empty() const { return times_.empty(); }
  /// REQUIRES: not empty().
  [[nodiscard]] double mean() const { return sum_ / static_cast<double>(times_.size()); }
  /// Of logarithms: what a task of a hundred times the time of others cannot move far.
  [[nodiscard]] double log_mean() const { return log_mean_; }
  /// The sum of squares of how far logarithms are from that.
  [[nodiscard]] double log_squares() const { return log_squares_; }
  [[nodiscard]] std::size_t size() const { return times_.size(); }
  /// So many at most, the newest last.
  [[nodiscard]] std::span<const double> last(std::size_t most) const {
    return std::span(times_).last(std::min(most, times_.size()));
  }

 private:
  /// Have the last few, which also started after all before them, all taken longer than any of
  /// those, or less than any? Tasks that start at once on many cores end in the order of their
  /// times: that is no step.
  [[nodiscard]] bool has_stepped() const;
  void forget(std::size_t oldest);
  void count_logarithms();

  std::vector<double> times_;       ///< the newest last
  std::vector<double> logarithms_;  ///< of these
  std::vector<TimePoint> started_;  ///< as many
  double sum_ = 0;
  double log_mean_ = 0;
  double log_squares_ = 0;
};

}  // namespace gantry::forecast
