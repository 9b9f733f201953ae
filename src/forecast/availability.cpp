#include "forecast/availability.hpp"

#include <algorithm>
#include <cmath>

namespace gantry::forecast {

namespace {
/// With less nothing would ever end.
constexpr double kLeastAvailable = 0.01;
/// Agents tell more often than this: before that nobody computed.
constexpr double kToldWithin = 10;
/// As often as agents tell, and a bit: only of that time a report knows.
constexpr double kToldEvery = 4;
/// After such a silence what was last seen counts half.
constexpr double kHalfForgotten = 120;

double seconds_between(TimePoint from, TimePoint to) {
  std::int64_t ns = 0;
  if (__builtin_sub_overflow(to_ns(to), to_ns(from), &ns)) return 0;
  return static_cast<double>(ns) * 1e-9;
}
}  // namespace

Verdict Availability::tell(double share, TimePoint at, TimePoint now) {
  const bool first = !known();
  const TimePoint before = series_.last_time();
  // What worked() has said of the silence holds: attempts that began in it go by that.
  const double promised = first ? 1 : expected() / first_;
  const Verdict verdict = series_.observe(at, share);
  if (verdict != Verdict::taken) return verdict;
  const double usable = std::max(share, kLeastAvailable);
  told_ = now;
  if (first) {
    first_ = usable;
    first_at_ = at;
    return verdict;
  }
  last_speed_ = usable / first_;
  const double since = std::max(seconds_between(before, at), 0.0);
  const double recent = std::min(since, kToldEvery);
  work_ += (since - recent) * promised + recent * last_speed_;
  span_ += since;
  return verdict;
}

double Availability::expected() const {
  return std::max(series_.forecast()->value, kLeastAvailable);
}

double Availability::mean() const {
  return span_ > 0 ? std::clamp(first_ * work_ / span_, kLeastAvailable, 1.0) : first_;
}

double Availability::share(TimePoint now) const {
  const double silent = std::max(seconds_between(told_, now) - kToldWithin, 0.0);
  const double kept = std::exp2(-silent / kHalfForgotten);
  return kept * expected() + (1 - kept) * mean();
}

double Availability::worked(TimePoint at) const {
  if (at <= first_at_) return -seconds_between(at, first_at_);
  const double since = seconds_between(series_.last_time(), at);
  return since >= 0 ? work_ + since * expected() / first_ : work_ + since * last_speed_;
}

double Availability::worked_by(TimePoint now) const {
  return work_ + std::max(seconds_between(told_, now), 0.0) * expected() / first_;
}

double Availability::most_work(TimePoint from, TimePoint to) const {
  return std::max(seconds_between(from, to), 0.0) / first_;
}

double Availability::work_in(double seconds, TimePoint ended, double begun) const {
  return std::clamp(worked(ended) - begun, seconds * kLeastAvailable, seconds / first_);
}

}  // namespace gantry::forecast
