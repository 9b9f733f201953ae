#include "forecast/learned_memory.hpp"

#include <algorithm>
#include <cmath>

namespace gantry::forecast {

namespace {
constexpr double kLeastMemoryMargin = 1.25;
/// A guess that was further off says nothing about the others.
constexpr double kMostMemoryMargin = 4;
/// Of the guesses: so many would have been enough. Each of the others costs one more attempt, which
/// is cheaper than a bigger share of the host for all.
constexpr double kEnoughFor = 0.95;
/// No host has more.
constexpr std::uint64_t kMostOfAHost = std::uint64_t{1} << 46U;
constexpr std::uint64_t kMib = std::uint64_t{1} << 20U;
/// More than any machine has.
constexpr std::uint64_t kMostMemory = std::uint64_t{1} << 60U;
}  // namespace

void LearnedMemory::observe(std::span<const Feature> task, std::uint64_t bytes) {
  if (bytes == 0 || bytes > kMostOfAHost) return;
  const auto guess = model_.predict(task);
  if (!model_.observe(task, static_cast<double>(bytes))) return;
  ++seen_here_;
  if (!guess || !(guess->likely_high > 0)) return;
  add_guess(static_cast<double>(bytes) / guess->likely_high);
}

void LearnedMemory::died(std::span<const Feature> task, std::uint64_t limit) {
  const auto guess = model_.predict(task);
  if (limit > kMostOfAHost || !guess || !(guess->likely_high > 0)) return;
  const std::uint64_t wanted = more_memory(limit, 0);
  add_guess(static_cast<double>(wanted) / guess->likely_high);
  wanted_ = std::max(wanted_, wanted);
  if (seen() >= kEnough && margin_by_guesses() > kLeastMemoryMargin * margin_) next_ = seen();
}

void LearnedMemory::add_guess(double part) {
  if (guesses_.size() < kGuesses)
    guesses_.push_back(part);
  else
    guesses_[next_guess_ % kGuesses] = part;
  ++next_guess_;
}

double LearnedMemory::margin_by_guesses() const {
  if (guesses_.empty()) return kLeastMemoryMargin;
  std::vector<double> sorted = guesses_;
  std::ranges::sort(sorted);
  const auto place =
      static_cast<std::size_t>(std::ceil(kEnoughFor * static_cast<double>(sorted.size())) - 1);
  return std::clamp(sorted[place], kLeastMemoryMargin, kMostMemoryMargin);
}

void LearnedMemory::refresh() {
  if (seen() < kEnough) return;
  used_ = model_;
  margin_ = margin_by_guesses();
  most_ = std::max(used_.most(), static_cast<double>(wanted_));
  next_ = seen() + std::max<std::uint64_t>(seen() / 2, 1);
}

std::optional<std::uint64_t> LearnedMemory::need(std::span<const Feature> task) const {
  if (used_.observations() < kEnough) return std::nullopt;
  const auto guess = used_.predict(task);
  if (!guess) return std::nullopt;
  // Not `high`: what may be, far from all that was seen, would take hosts from others. Who dies is
  // given more.
  const double bytes = std::min(guess->likely_high * margin_,
                                std::max(guess->likely_high, most_) * kLeastMemoryMargin);
  if (!(bytes < static_cast<double>(kMostMemory))) return kMostMemory;
  return coarse_memory(std::max(static_cast<std::uint64_t>(std::max(bytes, 0.0)), kLeast));
}

std::uint64_t coarse_memory(std::uint64_t bytes) {
  if (bytes >= kMostMemory) return kMostMemory;
  constexpr int kSteps = 4;
  const double mib = std::max(static_cast<double>(bytes) / static_cast<double>(kMib), 1.0);
  const double step = std::ceil(kSteps * std::log2(mib) - 1e-9);
  return static_cast<std::uint64_t>(std::ceil(std::exp2(step / kSteps) - 1e-6)) * kMib;
}

std::uint64_t more_memory(std::uint64_t given, std::uint64_t used) {
  return coarse_memory(2 * std::min(std::max(given, used), kMostMemory / 2));
}

}  // namespace gantry::forecast
