#pragma once
/// Seconds for an amount, of a host or a link, over time. What is expected is the series' forecast,
/// unless amounts take so uneven times that most are far from their mean: then it is the mean of
/// the last few, because what is planned is their sum. A value of some kilobytes; no clock.

#include "forecast/series.hpp"

namespace gantry::forecast {

class Rate {
 public:
  /// Nothing that is not positive and finite is taken. False also of what is absurd after all that
  /// was seen: it counts for little.
  bool observe(TimePoint at, double seconds, double amount);

  [[nodiscard]] bool known() const { return amount_ > 0; }
  /// Seconds for an amount of 1. REQUIRES: known().
  [[nodiscard]] double expected() const;
  /// Of seconds for an amount of 1.
  [[nodiscard]] const Series& series() const { return series_; }

 private:
  Series series_{{.highest = 1e12, .together = true}};
  // Of sums, so that short tasks and small files, most of whose time is overhead, do not distort
  // it.
  double seconds_ = 0;
  double amount_ = 0;
};

}  // namespace gantry::forecast
