#pragma once
/// The next values of one series, by many simple forecasters at once (the Network Weather Service's
/// idea): each predicts every value before it comes, is judged by how far off it was of late, and
/// has the more to say the closer it was. Values only, no clock. A plain value of a few kilobytes
/// that allocates nothing; one thread.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "forecast/autoregressive.hpp"
#include "forecast/recent_means.hpp"
#include "forecast/sorted_window.hpp"

namespace gantry::forecast {

class Battery {
 public:
  /// So many values ahead is what members are judged by, each distance for itself: what is best for
  /// the next value is not for the sixteenth.
  static constexpr std::array<std::uint32_t, 3> kHorizons{1, 4, 16};

  struct Forecast {
    double value = 0;
    double error = 0;         ///< mean absolute error of late; 0 before the first was judged
    std::string_view member;  ///< who has most to say; lives as long as the program
  };

  /// What is not finite is left out; what is beyond ±1e100 counts as that.
  void observe(double value);
  [[nodiscard]] std::uint64_t observations() const { return count_; }

  /// Of the value that comes after `steps - 1` others, by who is good at the nearest of the
  /// distances above. Nothing before the first observation. O(1).
  [[nodiscard]] std::optional<Forecast> forecast(std::uint32_t steps = 1) const;
  [[nodiscard]] static std::size_t nearest_horizon(std::uint32_t steps) {
    return steps <= 2 ? 0 : steps <= 8 ? 1 : 2;
  }

  /// The last 31 values, in order of size.
  [[nodiscard]] const SortedWindow<31>& recent() const { return many_; }

  /// For studies: what each member says at kHorizons[horizon], in the order of members().
  [[nodiscard]] static std::span<const std::string_view> members();
  [[nodiscard]] std::span<const double> predictions(std::size_t horizon) const;

 private:
  static constexpr std::array kGains{0.05, 0.1, 0.3, 0.5};
  static constexpr std::size_t kSingle = 15;  ///< members, without the blend of them all
  static constexpr std::size_t kMembers = kSingle + 1;
  using Row = std::array<double, kMembers>;

  /// Smoothing that follows fast while errors have the same sign, and slowly while they cancel out
  /// (Trigg and Leach).
  struct Tracking {
    double level = 0;
    double error = 0;
    double size = 0;  ///< of errors, whatever their sign
    void observe(double value, bool first);
  };
  /// Smoothing with a slope that is damped (Holt).
  struct Trend {
    double level = 0;
    double slope = 0;
    void observe(double value, bool first);
    [[nodiscard]] double ahead(std::size_t horizon) const;
  };
  /// How good members are at one distance.
  struct Record {
    Row errors{};           ///< sums that fade
    double unforeseen = 0;  ///< of each time's smallest error: what nobody could have known
    double weight = 0;      ///< of as many ones
    std::size_t best = 0;
  };
  static constexpr std::size_t kRows = kHorizons[0] + kHorizons[1] + kHorizons[2];

  [[nodiscard]] static constexpr std::size_t first_row(std::size_t horizon) {
    return horizon == 0 ? 0 : horizon == 1 ? kHorizons[0] : kHorizons[0] + kHorizons[1];
  }
  /// Where what was predicted after `count` observations stands.
  [[nodiscard]] static std::size_t row_of(std::size_t horizon, std::uint64_t count) {
    return first_row(horizon) + count % kHorizons[horizon];
  }
  void judge(std::size_t horizon, double value);
  void learn(double value);
  void predict();
  void choose(std::size_t horizon);

  std::uint64_t count_ = 0;
  double last_ = 0;
  double mean_ = 0;
  std::array<double, kGains.size()> smoothed_{};
  RecentMeans means_;
  SortedWindow<5> few_;
  SortedWindow<11> some_;
  SortedWindow<31> many_;
  Tracking tracking_;
  Trend trend_;
  Autoregressive<1> short_memory_;
  Autoregressive<4> long_memory_;
  std::array<Record, kHorizons.size()> records_{};
  std::array<Row, kRows> rows_{};  ///< what was predicted and is not judged yet
};

}  // namespace gantry::forecast
