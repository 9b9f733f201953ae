#pragma once
/// How good forecasts are, on series that are made from a seed or read from trace files: the
/// battery beside each of its members, and the share of values that lie in a series' interval.
/// Pure functions, but for load_series().

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "forecast/battery.hpp"

namespace gantry::simulate {

struct ForecastSeries {
  std::string group;  ///< what is averaged; no comma
  std::string name;
  std::vector<double> values;
};

/// `each` series of 500 values of every kind: autoregressive of order 1, regimes, cycle, spikes,
/// steps, walk.
[[nodiscard]] std::vector<ForecastSeries> generated_series(std::uint64_t seed, std::uint32_t each);

/// A file of CPU loads (PlanetLab: a series for each host), a bandwidth log, or lines
/// `time,value`: as simulate/trace_file reads them. The text tells which it is. Every other series
/// is of a group of its own, so that one half can be tuned on and the other reported; `place` is
/// the number of the file among those that are given.
[[nodiscard]] Result<std::vector<ForecastSeries>> load_series(const std::filesystem::path& path,
                                                              std::size_t place);
[[nodiscard]] Result<std::vector<ForecastSeries>> parse_series(std::string_view text,
                                                               const std::string& name,
                                                               std::size_t place);

inline constexpr std::size_t kDistances = forecast::Battery::kHorizons.size();

/// Of one series.
struct SeriesScore {
  struct Distance {
    std::vector<double> errors;  ///< mean absolute, of each of Battery::members()
    double inside = 0;           ///< share of values in the interval
  };
  std::array<Distance, kDistances> distances;
};
[[nodiscard]] SeriesScore score_series(std::span<const double> values);

/// Of one group of series, at one distance.
struct GroupScore {
  std::string group;
  std::uint32_t ahead = 0;  ///< values
  std::size_t series = 0;   ///< those that can be forecast exactly are left out
  /// Mean over the series of the error of each of Battery::members(), the last of which is what the
  /// battery says, relative to that of the best other one in hindsight.
  std::vector<double> above_best;
  double of_last_value = 0;  ///< mean of the battery's error relative to the last value's
  double inside = 0;
};
[[nodiscard]] std::vector<GroupScore> group_scores(std::span<const ForecastSeries> series,
                                                   std::span<const SeriesScore> scores);

}  // namespace gantry::simulate
