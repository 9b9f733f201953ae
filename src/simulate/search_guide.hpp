#pragma once
/// A shortcut for searches in ascending numbers. A value.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace gantry::simulate {

/// Where to begin looking for a number in ascending ones: as many equal intervals as numbers, so
/// that a search takes a step or two on average instead of a dozen.
class SearchGuide {
 public:
  SearchGuide() = default;
  /// REQUIRES: the numbers ascend and are finite.
  explicit SearchGuide(std::span<const double> numbers) : low_(numbers.front()) {
    const double span = numbers.back() - low_;
    if (!(span > 0)) return;
    per_unit_ = static_cast<double>(numbers.size()) / span;
    for (std::uint32_t i = 0; i < numbers.size(); ++i)
      first_.resize(std::max(first_.size(), interval(numbers[i]) + 1), i);
  }

  /// The first of `numbers`, which it was made for (more may follow them), from place `begin` on
  /// that is not `before(number, wanted)`, where before is < or <=.
  template <class Before>
  [[nodiscard]] std::size_t find(std::span<const double> numbers, std::size_t begin, double wanted,
                                 const Before& before) const {
    constexpr std::size_t kLinearSteps = 8;  // many may lie in one interval
    std::size_t at = std::max(begin, start(wanted));
    for (const std::size_t last = std::min(at + kLinearSteps, numbers.size()); at < last; ++at)
      if (!before(numbers[at], wanted)) return at;
    const auto rest = numbers.subspan(at);
    return at + static_cast<std::size_t>(
                    std::lower_bound(rest.begin(), rest.end(), wanted, before) - rest.begin());
  }

 private:
  /// A place before or at the first number that is not below `wanted`, unless all are.
  [[nodiscard]] std::size_t start(double wanted) const {
    if (first_.empty()) return 0;
    return first_[std::min(interval(wanted), first_.size() - 1)];
  }
  [[nodiscard]] std::size_t interval(double number) const {
    return number <= low_ ? 0 : static_cast<std::size_t>((number - low_) * per_unit_);
  }

  double low_ = 0;
  double per_unit_ = 0;
  std::vector<std::uint32_t> first_;  ///< by interval: the first number in it or behind it
};

}  // namespace gantry::simulate
