#include "forecast/queue_waits.hpp"

#include <algorithm>
#include <cmath>

namespace gantry::forecast {

Verdict QueueWaits::waited(double seconds, TimePoint at) {
  const Verdict verdict = series_.observe(at, seconds);
  if (verdict != Verdict::taken) return verdict;
  if (recent_.size() == kKept) recent_.pop_front();
  recent_.push_back({at, seconds});
  return verdict;
}

std::optional<QueueWaits::Rest> QueueWaits::left(double waited) const {
  const auto whole = series_.forecast();
  if (!whole || !(waited >= 0)) return std::nullopt;
  Rest rest{.expected = std::abs(whole->value - waited),
            .soonest = std::max(whole->low - waited, 0.0),
            .latest = std::max(whole->high - waited, 0.0)};
  rest.soonest = std::min(rest.soonest, rest.expected);
  // Late already: nobody knows, but hardly twice as late as it is.
  if (waited > whole->value) rest.latest = std::max(rest.latest, 2 * rest.expected);
  return rest;
}

}  // namespace gantry::forecast
