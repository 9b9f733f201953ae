#pragma once
/// How long jobs wait in the queue of a batch site: a series, and its last values, which the next
/// run may begin with. Values only, no clock. A value of ten kilobytes at most; one thread.

#include <deque>
#include <optional>

#include "base/time.hpp"
#include "forecast/series.hpp"

namespace gantry::forecast {

class QueueWaits {
 public:
  static constexpr std::size_t kKept = 64;

  struct Wait {
    TimePoint at;  ///< when it was over
    double seconds = 0;
    friend bool operator==(const Wait&, const Wait&) = default;
  };
  /// What is not taken is counted by the series, and has no other effect.
  Verdict waited(double seconds, TimePoint at);

  struct Rest {
    double expected = 0;
    double soonest = 0;  ///< four in five come between soonest and latest
    double latest = 0;
  };
  /// Of one that has waited so many seconds already. One that waits longer than was expected is
  /// taken to wait as long again as it is late. Nothing before the first value.
  [[nodiscard]] std::optional<Rest> left(double waited) const;

  [[nodiscard]] const Series& series() const { return series_; }
  /// The last that were taken, the oldest first.
  [[nodiscard]] const std::deque<Wait>& recent() const { return recent_; }

 private:
  // A queue of a month is a job that was forgotten; a pause of a year, a cluster that was.
  Series series_{{.highest = 30 * 24 * 3600.0,
                  .together = true,
                  .longest_pause = std::chrono::hours(24 * 366)}};
  std::deque<Wait> recent_;
};

}  // namespace gantry::forecast
