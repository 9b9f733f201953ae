#include "forecast/cost_profile.hpp"

#include <algorithm>

#include "forecast/run_time.hpp"

namespace gantry::forecast {

namespace {
constexpr std::uint32_t kSamples = 1024;
}

CostProfile::CostProfile(std::uint32_t count, const CostOf& cost_of) {
  if (count == 0 || !cost_of) return;
  stride_ = (count - 1) / kSamples + 1;
  const std::uint32_t samples = (count - 1) / stride_ + 1;
  mean_from_.resize(samples);
  double sum = 0;
  for (std::uint32_t i = samples; i-- > 0;) {
    // The middle of the stretch: costs that grow along the sweep are then neither over- nor
    // underestimated.
    const std::uint32_t first = i * stride_;
    const std::uint32_t last = std::min(first + (stride_ - 1), count - 1);
    sum += usable_cost(cost_of(first + (last - first) / 2));
    mean_from_[i] = sum / (samples - i);
  }
}

double CostProfile::mean_from(std::uint32_t index) const {
  if (mean_from_.empty()) return 1.0;
  return mean_from_[std::min<std::size_t>(index / stride_, mean_from_.size() - 1)];
}

}  // namespace gantry::forecast
