#include "simulate/forecast_experiment.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "forecast/series.hpp"

namespace gantry::simulate {

namespace {

using forecast::Battery;

/// A series that is forecast better than this, relative to its values, is constant but for
/// rounding.
constexpr double kExact = 1e-9;
constexpr Duration kStep = std::chrono::minutes(1);

/// Of the members that are not the battery's own answer.
double best_of(const std::vector<double>& errors) {
  return *std::min_element(errors.begin(), errors.end() - 1);
}

double size_of(std::span<const double> values) {
  double sum = 0;
  for (const double value : values) sum += std::abs(value);
  return values.empty() ? 0 : sum / static_cast<double>(values.size());
}

}  // namespace

SeriesScore score_series(std::span<const double> values) {
  SeriesScore score;
  const std::size_t members = Battery::members().size();
  Battery battery;
  forecast::Series series({.lowest = -std::numeric_limits<double>::infinity()});
  std::array<std::vector<double>, kDistances> said;  // row after row
  for (std::size_t t = 0; t < values.size(); ++t) {
    battery.observe(values[t]);
    series.observe(TimePoint{} + static_cast<std::int64_t>(t + 1) * kStep, values[t]);
    for (std::size_t d = 0; d < kDistances; ++d) {
      const auto row = battery.predictions(d);
      said[d].insert(said[d].end(), row.begin(), row.end());
    }
  }
  for (std::size_t d = 0; d < kDistances; ++d) {
    auto& [errors, inside] = score.distances[d];
    errors.assign(members, 0);
    const std::size_t ahead = Battery::kHorizons[d];
    for (std::size_t t = ahead; t < values.size(); ++t)
      for (std::size_t i = 0; i < members; ++i)
        errors[i] += std::abs(said[d][(t - ahead) * members + i] - values[t]) /
                     static_cast<double>(values.size() - ahead);
    inside = series.accuracy(static_cast<std::int64_t>(ahead) * kStep).inside;
  }
  return score;
}

std::vector<GroupScore> group_scores(std::span<const ForecastSeries> series,
                                     std::span<const SeriesScore> scores) {
  std::vector<GroupScore> groups;
  for (std::size_t s = 0; s < series.size(); ++s) {
    for (std::size_t d = 0; d < kDistances; ++d) {
      const auto& [errors, inside] = scores[s].distances[d];
      const std::uint32_t ahead = Battery::kHorizons[d];
      auto group = std::find_if(groups.begin(), groups.end(), [&](const GroupScore& one) {
        return one.group == series[s].group && one.ahead == ahead;
      });
      if (group == groups.end())
        group = groups.insert(groups.end(), {.group = series[s].group,
                                             .ahead = ahead,
                                             .above_best = std::vector<double>(errors.size())});
      const double best = best_of(errors);
      if (!(best > kExact * size_of(series[s].values))) continue;
      const double part = 1.0 / static_cast<double>(++group->series);
      for (std::size_t i = 0; i < errors.size(); ++i)
        group->above_best[i] += part * (errors[i] / best - group->above_best[i]);
      group->of_last_value += part * (errors.back() / errors.front() - group->of_last_value);
      group->inside += part * (inside - group->inside);
    }
  }
  return groups;
}

}  // namespace gantry::simulate
