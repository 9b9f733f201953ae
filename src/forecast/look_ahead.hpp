#pragma once
/// How far off forecasts are, by how far they look ahead: learnt from those that came due. A
/// stretch of time counts with those of about its length (from one power of two to the next).
/// Nothing is allocated. A plain value.

#include <array>
#include <cstddef>
#include <cstdint>

namespace gantry::forecast {

/// What forecasts were worth, so far.
struct Accuracy {
  std::uint64_t scored = 0;  ///< forecasts whose value came
  double absolute = 0;       ///< mean absolute error
  double relative = 0;       ///< mean of error / value, each at most kMostRelative
  double inside = 0;         ///< share of values that lay in their interval

  static constexpr double kMostRelative = 10;
};

/// How far below and above a forecast the values lie, of which four in five are within.
struct Margin {
  double below = 0;
  double above = 0;
};

class LookAhead {
 public:
  /// That share of the values is to lie in the interval.
  static constexpr double kInside = 0.8;

  /// A forecast that looked so many seconds ahead was too low by `miss` (negative: too high);
  /// `value` is what came. `guess` is the mean absolute error to begin with where nothing is known.
  /// Returns whether the value was in the interval that margin() gave.
  bool score(double seconds, double miss, double value, double guess);
  /// Never narrower for a longer look ahead. `guess` as above.
  [[nodiscard]] Margin margin(double seconds, double guess) const;
  [[nodiscard]] Accuracy accuracy(double seconds) const;

 private:
  /// From a millisecond to weeks.
  static constexpr std::size_t kStretches = 32;

  struct Stretch {
    double error = 0;  ///< mean absolute error of late
    double absolute = 0;
    double relative = 0;
    float below = 0;  ///< of the error: the margins
    float above = 0;
    std::uint32_t scored = 0;
    std::uint32_t inside = 0;
  };
  [[nodiscard]] static std::size_t stretch_of(double seconds);
  [[nodiscard]] Margin own_margin(std::size_t stretch) const;

  std::array<Stretch, kStretches> stretches_{};
};

/// Adds one forecast to what is known. `value` is what came.
void add(Accuracy& accuracy, double miss, double value, bool inside);

}  // namespace gantry::forecast
