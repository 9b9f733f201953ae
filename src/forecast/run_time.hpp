#pragma once
/// How long tasks take, learnt from the attempts that ended: seconds per unit of relative cost, and
/// per task. Older observations fade, so that a forecast follows a machine that becomes slower.
/// Values only, no clock.

#include <cstdint>
#include <optional>

#include "base/time.hpp"

namespace gantry::forecast {

class RunTimeForecast {
 public:
  /// Observations that are worth feeding: the effect of any earlier one has faded to nothing.
  static constexpr std::size_t kMemory = 2000;

  /// An attempt of a task of this relative cost took so long. A cost that is not a positive number
  /// counts as 1.
  void observe(double cost, Duration took);

  [[nodiscard]] std::uint64_t observations() const { return observations_; }
  /// Of a task of this cost; nothing before the first observation.
  [[nodiscard]] std::optional<Duration> expected(double cost) const;
  /// Of any task; nothing before the first observation.
  [[nodiscard]] std::optional<Duration> mean() const;

 private:
  // Sums in which an observation weighs a little less with each later one. The time per cost is the
  // ratio of sums, not the mean of ratios: short tasks, whose fixed overhead dominates, do not
  // distort it.
  double seconds_ = 0;
  double cost_ = 0;
  double weight_ = 0;
  std::uint64_t observations_ = 0;
};

/// A relative cost that can be calculated with: what is not a positive finite number counts as 1.
[[nodiscard]] double usable_cost(double cost);

}  // namespace gantry::forecast
