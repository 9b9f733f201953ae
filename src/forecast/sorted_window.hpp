#pragma once
/// The last few values of a series, in order of size: for medians and extremes. A
/// value is put in by moving its neighbours: for so few that is faster than any tree. Nothing is
/// allocated. A plain value.

#include <algorithm>
#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>

namespace gantry::forecast {

template <std::size_t kWidth>
class SortedWindow {
 public:
  /// REQUIRES: not NaN.
  void push(double value) {
    if (size_ < kWidth) {
      insert(value, size_++);
    } else {
      insert(value, position(by_age_[oldest_]));
    }
    by_age_[oldest_] = value;
    oldest_ = (oldest_ + 1) % kWidth;
  }

  [[nodiscard]] std::size_t size() const { return size_; }
  /// The others REQUIRE: size() > 0.
  [[nodiscard]] double lowest() const { return sorted_[0]; }
  [[nodiscard]] double highest() const { return sorted_[size_ - 1]; }
  [[nodiscard]] double median() const {
    const std::size_t half = size_ / 2;
    return size_ % 2 == 1 ? sorted_[half] : (sorted_[half - 1] + sorted_[half]) / 2;
  }

 private:
  [[nodiscard]] std::size_t position(double value) const {
    const auto* found = std::lower_bound(sorted_.data(), sorted_.data() + size_, value);
    assert(*found == value);
    return static_cast<std::size_t>(found - sorted_.data());
  }
  /// Puts the value in; the place `hole` is free.
  void insert(double value, std::size_t hole) {
    for (; hole > 0 && sorted_[hole - 1] > value; --hole) sorted_[hole] = sorted_[hole - 1];
    for (; hole + 1 < size_ && sorted_[hole + 1] < value; ++hole) sorted_[hole] = sorted_[hole + 1];
    sorted_[hole] = value;
  }

  std::array<double, kWidth> sorted_{};
  std::array<double, kWidth> by_age_{};
  std::size_t size_ = 0;
  std::size_t oldest_ = 0;
};

}  // namespace gantry::forecast
