#include "simulate/experiment_statistics.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numeric>

#include "simulate/draws.hpp"

namespace gantry::simulate {

namespace {

/// Makespans this near to each other differ by rounding alone.
constexpr double kTie = 1 + 1e-9;

/// A number for each case.
using Scores = std::vector<double>;

/// The cases of each resample. The same ones for all measures of a table, so that what differs
/// between two measures is not the cases.
class Resamples {
 public:
  Resamples(std::size_t cases, const ConfidenceOptions& options)
      : options_(options), cases_(cases) {
    if (cases == 0) return;
    Random random = chance_for(options.seed, "resamples", cases);
    drawn_.reserve(cases * options.resamples);
    for (std::size_t i = 0; i < cases * options.resamples; ++i)
      drawn_.push_back(whole_between(random, 0, static_cast<std::uint32_t>(cases - 1)));
  }

  [[nodiscard]] Measure mean_of(const Scores& scores) const {
    if (scores.empty()) return {};
    const auto count = static_cast<double>(cases_);
    const double value = std::accumulate(scores.begin(), scores.end(), 0.0) / count;
    std::vector<double> means;
    means.reserve(options_.resamples);
    for (auto first = drawn_.begin(); first != drawn_.end();) {
      const auto last = first + static_cast<std::ptrdiff_t>(cases_);
      const auto add = [&](double sum, std::uint32_t i) { return sum + scores[i]; };
      means.push_back(std::accumulate(first, last, 0.0, add) / count);
      first = last;
    }
    std::ranges::sort(means);
    return {value, percentile(means, (1 - options_.confidence) / 2, value),
            percentile(means, (1 + options_.confidence) / 2, value)};
  }

  [[nodiscard]] Measure geometric_mean_of(const Scores& logarithms) const {
    if (logarithms.empty()) return {};
    const Measure logarithm = mean_of(logarithms);
    return {std::exp(logarithm.value), std::exp(logarithm.low), std::exp(logarithm.high)};
  }

 private:
  static double percentile(const std::vector<double>& sorted, double part, double otherwise) {
    if (sorted.empty()) return otherwise;
    const double place = part * static_cast<double>(sorted.size() - 1);
    return sorted[static_cast<std::size_t>(std::lround(place))];
  }

  ConfidenceOptions options_;
  std::size_t cases_;
  std::vector<std::uint32_t> drawn_;  ///< those of the first resample first
};

/// Of one case. Makespans that tie get the mean of their places.
std::vector<double> ranks(const std::vector<double>& makespans) {
  std::vector<std::size_t> order(makespans.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) { return makespans[i]; });
  std::vector<double> result(makespans.size());
  for (std::size_t first = 0; first < order.size();) {
    std::size_t end = first + 1;
    while (end < order.size() && makespans[order[end]] <= makespans[order[first]] * kTie) ++end;
    for (std::size_t i = first; i < end; ++i)
      result[order[i]] = static_cast<double>(first + 1 + end) / 2;
    first = end;
  }
  return result;
}

/// The scores of one scheduler.
struct SchedulerScores {
  Scores logarithm;
  Scores degradation;
  Scores rank;
  Scores log_distance;
};

std::vector<SchedulerScores> scores_of(const ExperimentTable& table) {
  std::vector<SchedulerScores> scores(table.schedulers.size());
  for (std::size_t i = 0; i < table.makespans.size(); ++i) {
    const std::vector<double>& makespans = table.makespans[i];
    assert(makespans.size() == scores.size());
    const double best = std::ranges::min(makespans);
    const std::vector<double> places = ranks(makespans);
    for (std::size_t s = 0; s < scores.size(); ++s) {
      assert(makespans[s] > 0 && std::isfinite(makespans[s]));
      scores[s].logarithm.push_back(std::log(makespans[s]));
      scores[s].degradation.push_back(makespans[s] / best - 1);
      scores[s].rank.push_back(places[s]);
      if (!table.bounds.empty())
        scores[s].log_distance.push_back(std::log(makespans[s] / table.bounds[i]));
    }
  }
  return scores;
}

}  // namespace

std::vector<SchedulerStatistics> statistics(const ExperimentTable& table,
                                            const ConfidenceOptions& options) {
  assert(table.bounds.empty() || table.bounds.size() == table.makespans.size());
  const Resamples resamples(table.makespans.size(), options);
  const auto scores = scores_of(table);
  std::vector<SchedulerStatistics> result;
  for (std::size_t s = 0; s < scores.size(); ++s)
    result.push_back({.scheduler = table.schedulers[s],
                      .geometric_mean = resamples.geometric_mean_of(scores[s].logarithm),
                      .degradation = resamples.mean_of(scores[s].degradation),
                      .rank = resamples.mean_of(scores[s].rank),
                      .distance = resamples.geometric_mean_of(scores[s].log_distance)});
  return result;
}

Measure mean_of_runs(const std::vector<double>& values, const ConfidenceOptions& options) {
  return Resamples(values.size(), options).mean_of(values);
}

}  // namespace gantry::simulate
