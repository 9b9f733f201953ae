#include "forecast/learned_outputs.hpp"

#include <algorithm>
#include <cmath>

namespace gantry::forecast {

LearnedOutputs::LearnedOutputs(RunTimeModel kept) : model_(std::move(kept)) {
  model_.age();
  refresh();
}

void LearnedOutputs::observe(std::span<const Feature> task, std::uint64_t bytes) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 60U;  // no disk holds more
  if (bytes <= kMost && model_.observe(task, static_cast<double>(bytes))) ++seen_here_;
}

void LearnedOutputs::refresh() {
  if (seen() < kEnough) return;
  used_ = model_;
  matters_ = used_.most() >= kLittle;
  next_ = seen() + std::max<std::uint64_t>(seen() / 2, 1);
}

double LearnedOutputs::expected(std::span<const Feature> task) const {
  if (!matters_) return 0;
  const double guess = used_.expected(task).value_or(0);
  return guess >= kLittle ? std::exp2(std::round(std::log2(guess))) : 0;
}

}  // namespace gantry::forecast
