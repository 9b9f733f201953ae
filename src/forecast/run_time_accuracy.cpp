#include "forecast/run_time_accuracy.hpp"

#include <algorithm>
#include <cmath>

namespace gantry::forecast {

namespace {

/// After 500 scores the first weighs 1/e of the latest.
constexpr double kWeightGrowth = 1.0 + 1.0 / 500.0;
/// Far from what a double can hold.
constexpr double kHeavy = 1e100;
/// A bin is 5 % wide, 160 reach from 1/55 to 55.
constexpr double kBinWidth = 0.05;

double ratio_at(double bin, std::size_t bins) {
  return std::exp((bin - static_cast<double>(bins) / 2) * kBinWidth);
}

}  // namespace

void RunTimeAccuracy::score(double expected, double actual) {
  if (!(expected > 0 && actual > 0 && std::isfinite(expected) && std::isfinite(actual))) return;
  const double place = std::log(actual / expected) / kBinWidth + kBins / 2.0;
  const auto bin = static_cast<std::size_t>(std::clamp(place, 0.0, kBins - 1.0));
  bins_[bin] += weight_;
  // One absurd score must not hide a thousand good ones.
  constexpr double kWorst = 10;
  error_ += weight_ * std::min(std::abs(expected - actual) / actual, kWorst);
  all_ += weight_;
  weight_ *= kWeightGrowth;
  ++scored_;
  if (weight_ < kHeavy) return;
  for (double& each : bins_) each /= weight_;
  error_ /= weight_;
  all_ /= weight_;
  weight_ = 1;
}

double RunTimeAccuracy::mean_error() const {
  return all_ > 0 ? error_ / all_ : 0;
}

double RunTimeAccuracy::quantile(double share) const {
  if (all_ <= 0) return 1;
  const double wanted = (share > 0 ? std::min(share, 1.0) : 0) * all_;
  double below = 0;
  for (std::size_t i = 0; i < kBins; ++i) {
    if (bins_[i] > 0 && below + bins_[i] >= wanted)
      return ratio_at(static_cast<double>(i) + (wanted - below) / bins_[i], kBins);
    below += bins_[i];
  }
  return ratio_at(kBins, kBins);
}

double RunTimeAccuracy::expected_beyond(double lasted) const {
  const double place = std::log(std::max(lasted, 1e-9)) / kBinWidth + kBins / 2.0;
  double sum = 0;
  double weight = 0;
  // Of the bin that it is in, what is beyond it is not known: whole bins only.
  for (std::size_t i = 0; i < kBins; ++i) {
    if (static_cast<double>(i) < place) continue;
    sum += bins_[i] * ratio_at(static_cast<double>(i) + 0.5, kBins);
    weight += bins_[i];
  }
  // One of thousands that took long says little of how long others take.
  constexpr double kSeldom = 0.001;
  if (weight <= kSeldom * all_) return std::max(2 * lasted - 1, lasted);
  return std::max(sum / weight, lasted);
}

}  // namespace gantry::forecast
