#include "forecast/look_ahead.hpp"

#include <algorithm>
#include <cmath>

namespace gantry::forecast {

namespace {
constexpr double kFinest = 1e-3;  ///< seconds; shorter stretches are one
/// Four in five values lie so many mean absolute errors around the forecast, whether errors are
/// normal (1.606) or fall off exponentially (ln 5 = 1.609).
constexpr float kFirstMargin = 1.6F;
constexpr float kLeastMargin = 0.05F;
constexpr float kMostMargin = 50;
/// By how much a margin grows or shrinks with a value that was outside, or inside: more while few
/// are known.
constexpr double kCorrection = 0.06;
constexpr double kFirstCorrection = 0.6;
constexpr double kErrorGain = 0.03;
/// Where nothing is known yet, margins grow as those of a random walk do, up to so much.
constexpr double kMostGrowth = 4;
/// Rounding is no error.
constexpr double kRounding = 1e-9;

/// A margin is right when as many values lie beyond it as should: it grows by as much more with one
/// that does as it shrinks by less with one that does not.
void correct(float& margin, bool beyond, std::uint32_t known) {
  constexpr double kBeyond = (1 - LookAhead::kInside) / 2;
  const double most = std::max(kCorrection, kFirstCorrection / std::sqrt(known));
  const double change = most * ((beyond ? 1.0 : 0.0) - kBeyond);
  margin = std::clamp(static_cast<float>(margin * std::exp(change)), kLeastMargin, kMostMargin);
}

Margin wider(const Margin& a, const Margin& b) {
  return {std::max(a.below, b.below), std::max(a.above, b.above)};
}

double relative_error(double miss, double value) {
  if (miss == 0) return 0;
  return std::min(std::abs(miss / value), Accuracy::kMostRelative);
}

}  // namespace

void add(Accuracy& accuracy, double miss, double value, bool inside) {
  const double part = 1.0 / static_cast<double>(++accuracy.scored);
  accuracy.absolute += part * (std::abs(miss) - accuracy.absolute);
  accuracy.relative += part * (relative_error(miss, value) - accuracy.relative);
  accuracy.inside += part * ((inside ? 1.0 : 0.0) - accuracy.inside);
}

std::size_t LookAhead::stretch_of(double seconds) {
  if (!(seconds > kFinest)) return 0;
  return std::min<std::size_t>(static_cast<std::size_t>(std::ilogb(seconds / kFinest)),
                               kStretches - 1);
}

bool LookAhead::score(double seconds, double miss, double value, double guess) {
  const Margin answered = margin(seconds, guess);
  const double rounding = kRounding * std::abs(value);
  const bool inside = miss <= answered.above + rounding && -miss <= answered.below + rounding;
  Stretch& stretch = stretches_[stretch_of(seconds)];
  if (stretch.scored == 0) {
    // What was known before counts as one forecast.
    stretch.error = (answered.below + answered.above) / (2.0 * kFirstMargin);
    stretch.below = stretch.above = kFirstMargin;
  } else {
    correct(stretch.above, miss > stretch.above * stretch.error + rounding, stretch.scored);
    correct(stretch.below, -miss > stretch.below * stretch.error + rounding, stretch.scored);
  }
  ++stretch.scored;
  const double gain = std::max(kErrorGain, 1.0 / (1.0 + stretch.scored));
  stretch.error += gain * (std::abs(miss) - stretch.error);
  stretch.absolute += std::abs(miss);
  stretch.relative += relative_error(miss, value);
  stretch.inside += inside ? 1 : 0;
  return inside;
}

Margin LookAhead::margin(double seconds, double guess) const {
  const std::size_t wanted = stretch_of(seconds);
  std::size_t known = kStretches;  ///< the last one up to `wanted` that is
  Margin margin;
  for (std::size_t i = 0; i <= wanted; ++i) {
    if (stretches_[i].scored == 0) continue;
    known = i;
    margin = wider(margin, own_margin(i));
  }
  if (known == wanted) return margin;
  std::size_t next = wanted + 1;
  while (next < kStretches && stretches_[next].scored == 0) ++next;
  if (known == kStretches) {
    if (next < kStretches) return own_margin(next);
    return {kFirstMargin * guess, kFirstMargin * guess};
  }
  const double growth = std::min(std::exp2(0.5 * static_cast<double>(wanted - known)), kMostGrowth);
  const Margin grown{margin.below * growth, margin.above * growth};
  if (next == kStretches) return grown;
  const Margin later = wider(margin, own_margin(next));
  return {std::min(grown.below, later.below), std::min(grown.above, later.above)};
}

Margin LookAhead::own_margin(std::size_t stretch) const {
  const Stretch& known = stretches_[stretch];
  return {known.below * known.error, known.above * known.error};
}

Accuracy LookAhead::accuracy(double seconds) const {
  const Stretch& stretch = stretches_[stretch_of(seconds)];
  if (stretch.scored == 0) return {};
  const auto scored = static_cast<double>(stretch.scored);
  return {stretch.scored, stretch.absolute / scored, stretch.relative / scored,
          static_cast<double>(stretch.inside) / scored};
}

}  // namespace gantry::forecast
