#include "forecast/run_time.hpp"

#include <algorithm>
#include <cmath>

namespace gantry::forecast {

namespace {
/// After 200 observations the first weighs 1/e of the latest.
constexpr double kTimeFade = 1.0 - 1.0 / 200.0;
/// Longer than any run, and far from what a Duration can hold (292 years).
constexpr double kMaxSeconds = 1e9;
}  // namespace

double usable_cost(double cost) {
  return std::isfinite(cost) && cost > 0 ? cost : 1.0;
}

void RunTimeForecast::observe(double cost, Duration took) {
  // A clock that was set back between start and end must not make the mean negative.
  const double s = std::clamp(seconds(took), 0.0, kMaxSeconds);
  seconds_ = seconds_ * kTimeFade + s;
  cost_ = cost_ * kTimeFade + usable_cost(cost);
  weight_ = weight_ * kTimeFade + 1.0;
  ++observations_;
}

std::optional<Duration> RunTimeForecast::expected(double cost) const {
  if (observations_ == 0) return std::nullopt;
  return from_seconds(std::min(seconds_ / cost_ * usable_cost(cost), kMaxSeconds));
}

std::optional<Duration> RunTimeForecast::mean() const {
  if (observations_ == 0) return std::nullopt;
  return from_seconds(seconds_ / weight_);
}

}  // namespace gantry::forecast
