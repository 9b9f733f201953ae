#include "forecast/slot_efficiency.hpp"

#include <algorithm>
#include <utility>

namespace gantry::forecast {

namespace {
constexpr double kGapFade = 1.0 - 1.0 / 1000.0;
/// Before that, the first tasks of a run (all slots start at once) would count for too much.
constexpr std::uint32_t kEnough = 200;
/// A machine that slept for a night says nothing about gaps.
constexpr double kLongestGap = 1.0;
}  // namespace

void SlotEfficiency::observe(TimePoint ended, Duration took, std::uint64_t slots) {
  const auto before = std::exchange(last_end_, std::max(ended, last_end_.value_or(ended)));
  if (!before) return;
  const double since = seconds(*last_end_ - *before);
  if (since > kLongestGap + seconds(took)) return;
  busy_ = busy_ * kGapFade + std::max(seconds(took), 0.0);
  available_ = available_ * kGapFade + since * static_cast<double>(slots);
  observations_ = std::min(observations_ + 1, kEnough);
}

double SlotEfficiency::value() const {
  if (observations_ < kEnough || available_ <= 0) return 1.0;
  return std::clamp(busy_ / available_, 0.01, 1.0);
}

}  // namespace gantry::forecast
