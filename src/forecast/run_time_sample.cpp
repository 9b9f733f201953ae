#include "forecast/run_time_sample.hpp"

#include <algorithm>
#include <numeric>

#include "forecast/run_time.hpp"

namespace gantry::forecast {

namespace {
/// So many in a row make a step, after so many others: by chance that is one case in 250.
constexpr std::ptrdiff_t kInARow = 4;
constexpr std::ptrdiff_t kBeforeAStep = 8;
/// Seconds for a cost of 1, by costs that make sense.
constexpr double kShortestTime = 1e-30;
constexpr double kLongestTime = 1e30;
/// What is seen on all hosts counts as so many tasks of each.
constexpr double kPooledTasks = 4;
}  // namespace

void RunTimeSample::observe(double seconds) {
  if (!(seconds >= kShortestTime && seconds <= kLongestTime)) return;
  if (times_.size() == kMost) times_.erase(times_.begin());
  times_.push_back(seconds);
  if (has_stepped()) times_.erase(times_.begin(), times_.end() - kInARow);
  // Not what it was and what has changed: after one that was far longer that would be mere
  // rounding.
  sum_ = std::accumulate(times_.begin(), times_.end(), 0.0);
}

bool RunTimeSample::has_stepped() const {
  if (std::ssize(times_) < kBeforeAStep + kInARow) return false;
  const auto now = times_.end() - kInARow;
  const auto [shortest, longest] = std::minmax_element(now, times_.end());
  const auto [least, most] = std::minmax_element(times_.begin(), now);
  return *most < *shortest || *least > *longest;
}

void PooledTimes::add(const RunTimeSample& sample, double speed) {
  sum_ += sample.sum() * usable_cost(speed);
  count_ += sample.size();
}

double PooledTimes::expected(const RunTimeSample* sample, double speed) const {
  const double elsewhere = sum_ / static_cast<double>(count_) / usable_cost(speed);
  if (sample == nullptr) return elsewhere;
  return (sample->sum() + kPooledTasks * elsewhere) /
         (static_cast<double>(sample->size()) + kPooledTasks);
}

}  // namespace gantry::forecast
