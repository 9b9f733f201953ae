#include "forecast/battery.hpp"

#include <algorithm>
#include <cmath>

namespace gantry::forecast {

namespace {

constexpr std::array<std::string_view, 16> kNames{
    "last value",    "mean",         "mean of 5",      "mean of 20",          "median of 5",
    "median of 11",  "median of 31", "smoothing 0.05", "smoothing 0.1",       "smoothing 0.3",
    "smoothing 0.5", "tracking",     "trend",          "autoregression of 1", "autoregression of 4",
    "blend"};
constexpr std::size_t kBlend = kNames.size() - 1;

/// Products of two must be finite.
constexpr double kLargest = 1e100;
/// What an error weighs less with each later one.
constexpr double kErrorFade = 0.99;
/// Added to all errors: they are compared by ratios, and numbers that fade towards 0 become slow to
/// calculate with.
constexpr double kNoError = 1e-250;
/// Who is good at the next value counts as so many forecasts further ahead, of which few have come
/// due in the beginning.
constexpr double kBorrowed = 20;
/// Of what nobody could have known so much does not count: it would make all members look alike.
constexpr double kCommon = 0.9;

/// How much of the blend a member is: its error as part of the lowest one, to the 16th power.
double share(double lowest, double error) {
  double ratio = lowest / error;
  for (int i = 0; i < 4; ++i) ratio *= ratio;
  return ratio;
}

/// The last value says as much as so many members: many others follow it closely, and where it is
/// best they would only blur it.
constexpr double kLastValue = 4;

constexpr double kTrackingGain = 0.2;
constexpr double kLevelGain = 0.3;
constexpr double kSlopeGain = 0.03;
constexpr double kDamping = 0.9;

/// How many slopes a damped trend goes in so many steps: d + d^2 + ... + d^steps.
template <std::size_t kCount>
constexpr std::array<double, kCount> slopes(const std::array<std::uint32_t, kCount>& steps) {
  std::array<double, kCount> sums{};
  for (std::size_t i = 0; i < kCount; ++i) {
    double part = 1;
    for (std::uint32_t step = 0; step < steps[i]; ++step) sums[i] += part *= kDamping;
  }
  return sums;
}

}  // namespace

void Battery::Tracking::observe(double value, bool first) {
  if (first) level = value;
  const double miss = value - level;
  error += kTrackingGain * (miss - error);
  size += kTrackingGain * (std::abs(miss) - size) + kNoError;
  level += std::abs(error) / size * miss;
}

void Battery::Trend::observe(double value, bool first) {
  if (first) level = value;
  slope *= kDamping;
  const double miss = value - (level + slope);
  level += slope + kLevelGain * miss;
  slope += kSlopeGain * miss + kNoError;
}

double Battery::Trend::ahead(std::size_t horizon) const {
  static constexpr auto kSlopes = slopes(kHorizons);
  return level + slope * kSlopes[horizon];
}

std::span<const std::string_view> Battery::members() {
  static_assert(kNames.size() == kMembers);
  return kNames;
}

std::span<const double> Battery::predictions(std::size_t horizon) const {
  return rows_[row_of(horizon, count_)];
}

std::optional<Battery::Forecast> Battery::forecast(std::uint32_t steps) const {
  if (count_ == 0) return std::nullopt;
  const std::size_t horizon = nearest_horizon(steps);
  const Record& record = records_[horizon];
  const double error = record.weight > 0 ? record.errors[kBlend] / record.weight : 0;
  return Forecast{rows_[row_of(horizon, count_)][kBlend], error, kNames[record.best]};
}

void Battery::observe(double value) {
  if (!std::isfinite(value)) return;
  value = std::clamp(value, -kLargest, kLargest);
  for (std::size_t horizon = 0; horizon < kHorizons.size(); ++horizon)
    if (count_ >= kHorizons[horizon]) judge(horizon, value);
  learn(value);
  predict();
  for (std::size_t horizon = 0; horizon < kHorizons.size(); ++horizon) choose(horizon);
}

void Battery::judge(std::size_t horizon, double value) {
  Record& record = records_[horizon];
  const Row& row = rows_[row_of(horizon, count_ + 1)];  // of kHorizons[horizon] values ago
  record.weight = kErrorFade * record.weight + 1;
  double smallest = std::abs(row[0] - value);
  for (std::size_t i = 0; i < kMembers; ++i) {
    const double error = std::abs(row[i] - value);
    record.errors[i] = kErrorFade * record.errors[i] + error + kNoError;
    smallest = std::min(smallest, error);
  }
  record.unforeseen = kErrorFade * record.unforeseen + smallest;
}

void Battery::learn(double value) {
  const bool first = count_ == 0;
  const double part = 1.0 / static_cast<double>(++count_);
  last_ = value;
  mean_ += part * (value - mean_);
  for (std::size_t i = 0; i < kGains.size(); ++i)
    smoothed_[i] += std::max(kGains[i], part) * (value - smoothed_[i]);
  means_.push(value);
  few_.push(value);
  some_.push(value);
  many_.push(value);
  tracking_.observe(value, first);
  trend_.observe(value, first);
  short_memory_.observe(value);
  long_memory_.observe(value);
}

void Battery::predict() {
  std::array<double, kHorizons.size()> by_short{};
  std::array<double, kHorizons.size()> by_long{};
  short_memory_.predict(kHorizons, by_short);
  long_memory_.predict(kHorizons, by_long);
  const Row same{last_,         mean_,          means_.mean(0), means_.mean(1),
                 few_.median(), some_.median(), many_.median(), smoothed_[0],
                 smoothed_[1],  smoothed_[2],   smoothed_[3],   tracking_.level};
  for (std::size_t i = 0; i < kHorizons.size(); ++i) {
    Row& row = rows_[row_of(i, count_)];
    row = same;
    row[kSingle - 3] = trend_.ahead(i);
    row[kSingle - 2] = by_short[i];
    row[kSingle - 1] = by_long[i];
  }
}

void Battery::choose(std::size_t horizon) {
  Record& record = records_[horizon];
  const Record& next = records_[0];
  const double borrowed = horizon > 0 && next.weight > 0 ? kBorrowed / next.weight : 0;
  const double common = kCommon * (record.unforeseen + borrowed * next.unforeseen);
  Row errors{};
  for (std::size_t i = 0; i < kSingle; ++i)
    errors[i] = record.errors[i] + borrowed * next.errors[i] - common + kNoError;
  const auto lowest = std::min_element(errors.begin(), errors.begin() + kSingle);
  record.best = static_cast<std::size_t>(lowest - errors.begin());

  Row& row = rows_[row_of(horizon, count_)];
  double shares = 0;
  double sum = 0;
  for (std::size_t i = 0; i < kSingle; ++i) {
    const double weight = share(*lowest, errors[i]) * (i == 0 ? kLastValue : 1);
    shares += weight;
    sum += weight * (row[i] - last_);  // exact where nothing changes
  }
  row[kBlend] = last_ + sum / shares;
}

}  // namespace gantry::forecast
