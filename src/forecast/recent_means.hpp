#pragma once
/// Means of the last few values of a series, for several widths at once. Nothing is allocated. A
/// plain value.

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace gantry::forecast {

class RecentMeans {
 public:
  static constexpr std::array<std::size_t, 2> kWidths{5, 20};

  void push(double value) {
    for (std::size_t i = 0; i < kWidths.size(); ++i) {
      const double leaving = count_ >= kWidths[i] ? ago(kWidths[i]) : 0;
      sums_[i] += value - leaving;
    }
    values_[count_++ % kKept] = value;
    for (std::size_t i = 0; i < kWidths.size(); ++i)
      if (is_worn(i, value)) sums_[i] = exact_sum(i);
  }
  /// Of the last kWidths[i] values, or of all, if there are fewer. REQUIRES: there is one.
  [[nodiscard]] double mean(std::size_t i) const {
    return sums_[i] / static_cast<double>(count_ < kWidths[i] ? count_ : kWidths[i]);
  }

 private:
  static constexpr std::size_t kKept = 32;
  /// What a large value that leaves takes along of the digits of those that stay.
  static constexpr double kWorn = 1e-3;

  [[nodiscard]] double ago(std::size_t steps) const { return values_[(count_ - steps) % kKept]; }
  /// A sum that is carried on loses digits: it is made anew now and then, and at once when most of
  /// it has left.
  [[nodiscard]] bool is_worn(std::size_t i, double value) const {
    if (count_ % kKept == 0) return true;
    if (count_ <= kWidths[i]) return false;
    const double left = values_[(count_ - 1 - kWidths[i]) % kKept];
    return std::abs(sums_[i]) < kWorn * (std::abs(left) + std::abs(value));
  }
  [[nodiscard]] double exact_sum(std::size_t i) const {
    double sum = 0;
    const std::size_t width = count_ < kWidths[i] ? count_ : kWidths[i];
    for (std::size_t steps = 1; steps <= width; ++steps) sum += ago(steps);
    return sum;
  }

  std::array<double, kKept> values_{};
  std::array<double, kWidths.size()> sums_{};
  std::uint64_t count_ = 0;
};

}  // namespace gantry::forecast
