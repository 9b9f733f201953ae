#pragma once
/// How fast the tasks of a host get on while others use it too, as its agent tells while they run:
/// a share of the speed that they would have there alone. Also a clock of what they have done,
/// which runs slowly while the host is loaded. Times are by the host's clock, but for `now`. A
/// value of some kilobytes; reads no clock.

#include "base/time.hpp"
#include "forecast/series.hpp"

namespace gantry::forecast {

class Availability {
 public:
  /// Since it was told before, until `at`. What cannot be is not taken: see Series.
  Verdict tell(double share, TimePoint at, TimePoint now);

  [[nodiscard]] bool known() const { return series_.observations() > 0; }

  // REQUIRES, of all below: known().
  // ---------------------------------------------------------------------------------------------
  /// That tasks get from now on. A host that tells nothing has nothing to do, and what was last
  /// seen of it counts less and less: then it is what it was on average.
  [[nodiscard]] double share(TimePoint now) const;
  /// Of how fast it was when it was told for the first time. So a share that does not change (a
  /// quota, a colleague who always computes) changes nothing, and what was learnt before holds.
  [[nodiscard]] double speed(TimePoint now) const { return share(now) / first_; }

  /// Seconds that tasks have computed there, at the speed of the first time.
  [[nodiscard]] double worked(TimePoint at) const;
  [[nodiscard]] double worked_by(TimePoint now) const;
  /// Of what took so many seconds until then; `begun`: what worked() was when it began.
  [[nodiscard]] double work_in(double seconds, TimePoint ended, double begun) const;

  /// The most that can have been done between the two; 0 when that makes no sense.
  [[nodiscard]] double most_work(TimePoint from, TimePoint to) const;

  [[nodiscard]] const Series& series() const { return series_; }

 private:
  [[nodiscard]] double expected() const;
  [[nodiscard]] double mean() const;

  Series series_{{.highest = 1}};
  double first_ = 1;  ///< share
  TimePoint first_at_{};
  double last_speed_ = 1;
  double work_ = 0;   ///< until the last one
  double span_ = 0;   ///< seconds from the first one to the last one
  TimePoint told_{};  ///< by our clock
};

}  // namespace gantry::forecast
