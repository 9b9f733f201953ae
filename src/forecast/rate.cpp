#include "forecast/rate.hpp"

#include <algorithm>
#include <cmath>

namespace gantry::forecast {

namespace {
/// What an observation weighs less with each later one.
constexpr double kRateFade = 0.6;
}  // namespace

bool Rate::observe(TimePoint at, double seconds, double amount) {
  if (!(seconds > 0 && amount > 0 && std::isfinite(seconds) && std::isfinite(amount))) return false;
  // Ends of several slots arrive in any order.
  const Verdict verdict = series_.observe(std::max(at, series_.last_time()), seconds / amount);
  seconds_ = kRateFade * seconds_ + seconds;
  amount_ = kRateFade * amount_ + amount;
  return verdict == Verdict::taken;
}

double Rate::expected() const {
  const double mean = seconds_ / amount_;
  const auto forecast = series_.forecast();
  if (!forecast || forecast->value <= 0 || mean < forecast->low || mean > forecast->high)
    return mean;
  return forecast->value;
}

}  // namespace gantry::forecast
