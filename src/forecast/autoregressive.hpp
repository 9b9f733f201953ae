#pragma once
/// Autoregressive forecasts of one series: the next value as a weighted sum of the last few and a
/// constant, with weights that follow the series (recursive least squares with fading). Safe with
/// any values: it begins anew when numbers get out of hand, and never leaves the range it has seen.
/// Nothing is allocated. A plain value.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace gantry::forecast {

template <std::size_t kOrder>
class Autoregressive {
 public:
  /// REQUIRES: |value| <= 1e100.
  void observe(double value);
  /// The values so many steps ahead. REQUIRES: steps ascend; one was observed.
  void predict(std::span<const std::uint32_t> steps, std::span<double> into) const;

 private:
  static constexpr std::size_t kWeights = kOrder + 1;  ///< the last one is the constant
  using Row = std::array<double, kWeights>;

  /// Collects until it is known how large values are, and how much they vary.
  void collect(double value);
  void begin();
  void learn(double scaled);

  std::uint32_t collected_ = 0;
  bool begun_ = false;
  double base_ = 0;   ///< values are seen from here,
  double scale_ = 0;  ///< in multiples of this
  double lowest_ = 0;
  double highest_ = 0;
  Row past_{};  ///< the latest first, then a 1
  Row weights_{};
  std::array<Row, kWeights> inverse_{};  ///< of the squares and products of the past, which fade
};

extern template class Autoregressive<1>;
extern template class Autoregressive<4>;

}  // namespace gantry::forecast
