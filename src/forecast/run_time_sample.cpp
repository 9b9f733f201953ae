#include "forecast/run_time_sample.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace gantry::forecast {

namespace {
/// So many in a row make a step, after so many others: by chance that is one case in 250.
constexpr std::ptrdiff_t kInARow = 4;
constexpr std::ptrdiff_t kBeforeAStep = 8;
/// Seconds for a cost of 1, by costs that make sense.
constexpr double kShortestTime = 1e-30;
constexpr double kLongestTime = 1e30;
}  // namespace

void RunTimeSample::observe(TimePoint started, double seconds) {
  if (!(seconds >= kShortestTime && seconds <= kLongestTime)) return;
  if (times_.size() == kMost) forget(1);
  times_.push_back(seconds);
  logarithms_.push_back(std::log(seconds));
  started_.push_back(started);
  if (has_stepped()) forget(times_.size() - kInARow);
  // Not what it was and what has changed: after one that was far longer that would be mere
  // rounding.
  sum_ = std::accumulate(times_.begin(), times_.end(), 0.0);
  count_logarithms();
}

void RunTimeSample::forget(std::size_t oldest) {
  const auto count = static_cast<std::ptrdiff_t>(oldest);
  times_.erase(times_.begin(), times_.begin() + count);
  logarithms_.erase(logarithms_.begin(), logarithms_.begin() + count);
  started_.erase(started_.begin(), started_.begin() + count);
}

void RunTimeSample::count_logarithms() {
  const double sum = std::accumulate(logarithms_.begin(), logarithms_.end(), 0.0);
  log_mean_ = sum / static_cast<double>(logarithms_.size());
  log_squares_ = 0;
  for (const double logarithm : logarithms_) log_squares_ += std::pow(logarithm - log_mean_, 2);
}

bool RunTimeSample::has_stepped() const {
  if (std::ssize(times_) < kBeforeAStep + kInARow) return false;
  const auto now = times_.end() - kInARow;
  const auto [shortest, longest] = std::minmax_element(now, times_.end());
  const auto [least, most] = std::minmax_element(times_.begin(), now);
  if (*most >= *shortest && *least <= *longest) return false;
  const auto first = started_.end() - kInARow;
  return *std::max_element(started_.begin(), first) < *std::min_element(first, started_.end());
}

}  // namespace gantry::forecast
