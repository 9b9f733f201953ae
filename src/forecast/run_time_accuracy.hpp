#pragma once
/// How good the forecasts of run times were: each is scored when the run has ended. What is kept is
/// how often reality was so many times the forecast, so that it also says how long a run may take
/// that has lasted longer than foretold. Older scores fade. A value of fixed size; no clock.

#include <array>
#include <cstddef>
#include <cstdint>

namespace gantry::forecast {

class RunTimeAccuracy {
 public:
  /// Fewer scores say little about what is unusual.
  static constexpr std::uint64_t kEnough = 20;

  /// Both positive and finite; anything else says nothing.
  void score(double expected, double actual);

  [[nodiscard]] std::uint64_t scored() const { return scored_; }
  /// |expected - actual| / actual, on average; 0 before the first score.
  [[nodiscard]] double mean_error() const;
  /// Which multiple of the forecast this share of runs (0 to 1) takes at most; 1 before the first
  /// score.
  [[nodiscard]] double quantile(double share) const;
  /// Which multiple of its forecast a run takes on average that has taken `lasted` times it and
  /// goes on. Beyond all that was seen: as long again as it is over.
  [[nodiscard]] double expected_beyond(double lasted) const;

 private:
  static constexpr std::size_t kBins = 160;

  std::uint64_t scored_ = 0;
  double weight_ = 1;  ///< of the next score; grows, so that earlier ones fade beside it
  double error_ = 0;   ///< weighted sum
  double all_ = 0;     ///< sum of weights
  std::array<double, kBins> bins_{};  ///< by the logarithm of actual / expected
};

}  // namespace gantry::forecast
