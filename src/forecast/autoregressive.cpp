#include "forecast/autoregressive.hpp"

#include <algorithm>
#include <cmath>

namespace gantry::forecast {

namespace {
constexpr std::uint32_t kCollected = 4;
/// What an observation weighs less with each later one.
constexpr double kWeightFade = 0.98;
/// Weights are little known in the beginning; when the past has not varied for long they become
/// less known with each fading, up to this.
constexpr double kUnknown = 10;
constexpr double kMostUnknown = 1e4;
/// A series is a mixture of what it was and of its mean, until more is known.
constexpr double kFirstWeight = 0.5;
/// Less variation, relative to the values, is rounding.
constexpr double kNoVariation = 1e-9;
/// So many times what it was in the beginning, and the scale says nothing any more.
constexpr double kOutOfHand = 1e6;
}  // namespace

template <std::size_t kOrder>
void Autoregressive<kOrder>::observe(double value) {
  const double scaled = begun_ ? (value - base_) / scale_ : 0;
  if (begun_ && !(std::abs(scaled) < kOutOfHand)) *this = {};
  if (collected_ == 0) lowest_ = highest_ = value;
  lowest_ = std::min(lowest_, value);
  highest_ = std::max(highest_, value);
  if (!begun_) return collect(value);
  learn(scaled);
  std::copy_backward(past_.begin(), past_.begin() + kOrder - 1, past_.begin() + kOrder);
  past_[0] = scaled;
}

template <std::size_t kOrder>
void Autoregressive<kOrder>::collect(double value) {
  collected_ = std::min(collected_ + 1, kCollected * kCollected);
  std::copy_backward(past_.begin(), past_.begin() + kOrder - 1, past_.begin() + kOrder);
  past_[0] = value;
  const double part = 1.0 / collected_;
  base_ += part * (value - base_);
  scale_ += part * (std::abs(value - base_) - scale_);
  if (collected_ >= kCollected && scale_ > kNoVariation * std::abs(base_) && scale_ > 1e-200)
    begin();
}

template <std::size_t kOrder>
void Autoregressive<kOrder>::begin() {
  static_assert(kOrder <= kCollected);
  begun_ = true;
  for (std::size_t i = 0; i < kOrder; ++i) past_[i] = (past_[i] - base_) / scale_;
  past_[kOrder] = 1;
  weights_[0] = kFirstWeight;
  for (std::size_t i = 0; i < kWeights; ++i) inverse_[i][i] = kUnknown;
}

template <std::size_t kOrder>
void Autoregressive<kOrder>::learn(double scaled) {
  double error = scaled;
  double known = kWeightFade;
  double unknown = 0;
  Row gain{};
  for (std::size_t i = 0; i < kWeights; ++i) {
    for (std::size_t j = 0; j < kWeights; ++j) gain[i] += inverse_[i][j] * past_[j];
    error -= weights_[i] * past_[i];
    known += gain[i] * past_[i];
    unknown += inverse_[i][i];
  }
  const double fade = unknown < kMostUnknown ? 1 / kWeightFade : 1;
  for (std::size_t i = 0; i < kWeights; ++i) {
    const double part = gain[i] / known;
    weights_[i] += part * error;
    for (std::size_t j = 0; j < kWeights; ++j)
      inverse_[i][j] = (inverse_[i][j] - part * gain[j]) * fade;
  }
  // Rounding may make an inverse of nothing in the end: begin anew from what is known.
  if (known > 0 && std::abs(weights_[0]) < kOutOfHand) return;
  weights_ = {};
  inverse_ = {};
  weights_[0] = kFirstWeight;
  for (std::size_t i = 0; i < kWeights; ++i) inverse_[i][i] = kUnknown;
}

template <std::size_t kOrder>
void Autoregressive<kOrder>::predict(std::span<const std::uint32_t> steps,
                                     std::span<double> into) const {
  if (!begun_) {
    std::fill(into.begin(), into.end(), base_);
    return;
  }
  const double low = (lowest_ - base_) / scale_;
  const double high = (highest_ - base_) / scale_;
  Row past = past_;
  std::uint32_t step = 0;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    for (; step < steps[i]; ++step) {
      double next = weights_[kOrder];
      for (std::size_t j = 0; j < kOrder; ++j) next += weights_[j] * past[j];
      std::copy_backward(past.begin(), past.begin() + kOrder - 1, past.begin() + kOrder);
      past[0] = std::clamp(next, low, high);
    }
    into[i] = base_ + scale_ * past[0];
  }
}

template class Autoregressive<1>;
template class Autoregressive<4>;

}  // namespace gantry::forecast
