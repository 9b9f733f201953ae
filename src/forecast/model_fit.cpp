#include "forecast/model_fit.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace gantry::forecast {

namespace {

constexpr std::array kRegressions{ModelFamily::linear, ModelFamily::logarithmic, ModelFamily::power,
                                  ModelFamily::exponential, ModelFamily::polynomial};
constexpr std::array kRidges{1e-6, 1e-3, 1e-1};
/// With fewer tasks nothing can be said of how they depend on parameters.
constexpr std::size_t kEnoughTasks = 4;
/// What is to be taken in place of the mean must be so much better, and more with few tasks, for
/// which one of many families is better by chance; and a regression may be so much worse than
/// neighbours, as it knows what lies beyond them.
constexpr double kClearly = 0.9;
constexpr double kClearlyOfFew = 2;
constexpr double kNearly = 1.1;
/// A polynomial has many factors, and is to be so much better than a simpler one.
constexpr double kSimpler = 0.95;
/// Parts of the mean: programs that always do the same differ by that, so that who is less off is
/// so by chance; and nobody is helped by knowing what is less than this.
constexpr double kChance = 0.02;
/// An interval is at least so wide, to each side.
constexpr double kNeverExact = 0.02;
constexpr std::size_t kNeighbours = 5;
constexpr double kOutside = 0.1;  ///< share of values below the interval, and above it
/// Predictions go so far beyond what was seen. An exponential is less to be trusted there.
constexpr double kBelow = 0.1;
constexpr double kBeyond = 1000;
constexpr double kBeyondExponential = 10;
/// By how much the mean of predictions may be corrected.
constexpr double kMostCorrection = 1.25;
constexpr double kMostStretch = 1000;  ///< of an interval
/// Families that describe what was seen with so many times the error of the best may be right
/// beyond that; and so much of what is added there by the best may be wrong.
constexpr double kAlmostAsGood = 2;
constexpr double kDoubt = 0.5;
/// Further from what was seen nothing is expected without an interval that begins nearer.
constexpr double kFar = 10;
constexpr std::size_t kNobody = std::numeric_limits<std::size_t>::max();

bool of_logarithm(ModelFamily family) {
  return family == ModelFamily::exponential || family == ModelFamily::power;
}

Shape shape_of(ModelFamily family) {
  if (family == ModelFamily::polynomial) return Shape::squares;
  if (family == ModelFamily::logarithmic || family == ModelFamily::power) return Shape::logarithms;
  return Shape::plain;
}

double mean_error(std::span<const double> said, std::span<const double> values) {
  double sum = 0;
  for (std::size_t i = 0; i < values.size(); ++i) sum += std::abs(said[i] - values[i]);
  return sum / static_cast<double>(values.size());
}

double mean_of(std::span<const double> values) {
  double sum = 0;
  for (const double value : values) sum += value / static_cast<double>(values.size());
  return sum;
}

/// Between the nearest two. REQUIRES: sorted, not empty.
double quantile(std::span<const double> sorted, double share) {
  const double at = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return std::lerp(sorted[below], sorted[above], at - std::floor(at));
}

/// The ends of the middle four fifths.
std::array<double, 2> middle(std::vector<double> numbers) {
  std::sort(numbers.begin(), numbers.end());
  return {quantile(numbers, kOutside), quantile(numbers, 1 - kOutside)};
}

}  // namespace

RunTimeModel::Fit::Fit(const FitTasks& known) : parameters_(known.tasks) {
  mean_ = mean_of(known.values);
  const auto [lowest, highest] = std::minmax_element(known.values.begin(), known.values.end());
  lowest_ = *lowest;
  highest_ = *highest;
  Candidate mean = by_mean(known);
  const double clearly =
      (kClearly - kClearlyOfFew / static_cast<double>(known.values.size())) * mean.error;
  const double error = mean.error;
  std::vector<Candidate> all;
  if (known.values.size() >= kEnoughTasks && error > kChance * mean_) {
    Candidate near = by_neighbours(known);
    auto regression = by_regression(known, all);
    const double chance = kChance * mean_;
    if (regression && regression->error < clearly &&
        regression->error + chance < kNearly * (near.error + chance)) {
      mean = std::move(*regression);
    } else if (near.error < clearly) {
      mean = std::move(near);
    }
    error_of_mean = mean.error / error;
  }
  choose(std::move(mean), known);
  keep_others(std::move(all));
}

void RunTimeModel::Fit::keep_others(std::vector<Candidate> all) {
  if (family == ModelFamily::mean) return;
  for (Candidate& other : all) {
    const bool tame =
        other.family != ModelFamily::polynomial && other.family != ModelFamily::exponential;
    if (!tame || other.family == family || other.error > kAlmostAsGood * chosen_.error) continue;
    other.left_out.clear();
    others_.push_back(std::move(other));
  }
}

void RunTimeModel::Fit::choose(Candidate candidate, const FitTasks& known) {
  chosen_ = std::move(candidate);
  family = chosen_.family;
  std::vector<double> differences;
  std::vector<double> ratios;
  double difference = 0;
  double ratio = 0;
  double logarithm = 0;  // of what is said
  for (std::size_t i = 0; i < known.values.size(); ++i) {
    const double said = chosen_.left_out[i];
    differences.push_back(known.values[i] - said);
    difference += std::abs(differences.back());
    if (!(said > 0)) continue;
    ratios.push_back(known.values[i] / said);
    ratio += std::abs(ratios.back() - 1);
    logarithm += std::log(said) / static_cast<double>(known.values.size());
  }
  // By which of the two the values are more likely.
  relative_ = ratios.size() == differences.size() && ratio * std::exp(logarithm) < difference;
  const auto ends = middle(std::move(relative_ ? ratios : differences));
  below_ = ends[0];
  above_ = ends[1];
  chosen_.left_out.clear();
}

RunTimeModel::Fit::Candidate RunTimeModel::Fit::by_mean(const FitTasks& known) const {
  Candidate candidate;
  const auto count = static_cast<double>(known.values.size());
  for (const double value : known.values)
    candidate.left_out.push_back(count > 1 ? (mean_ * count - value) / (count - 1) : value);
  candidate.error = mean_error(candidate.left_out, known.values);
  return candidate;
}

RunTimeModel::Fit::Candidate RunTimeModel::Fit::by_neighbours(const FitTasks& known) const {
  Candidate candidate{ModelFamily::neighbours};
  for (std::size_t i = 0; i < known.values.size(); ++i)
    candidate.left_out.push_back(near(known.tasks[i], known, i));
  candidate.error = mean_error(candidate.left_out, known.values);
  return candidate;
}

double RunTimeModel::Fit::near(std::span<const Feature> task, const FitTasks& known,
                               std::size_t except) const {
  struct Neighbour {
    double distance = std::numeric_limits<double>::infinity();
    double value = 0;
  };
  std::array<Neighbour, kNeighbours> nearest{};  // the nearest first
  for (std::size_t i = 0; i < known.values.size(); ++i) {
    if (i == except) continue;
    Neighbour one{parameters_.distance(task, known.tasks[i]), known.values[i]};
    for (Neighbour& other : nearest)
      if (one.distance < other.distance) std::swap(one, other);
  }
  constexpr double kTouching = 1e-3;
  double weights = 0;
  double sum = 0;
  for (const Neighbour& one : nearest) {
    const double weight = 1 / (std::sqrt(one.distance) + kTouching);
    weights += weight;
    sum += weight * one.value;
  }
  return weights > 0 ? sum / weights : mean_;
}

std::optional<RunTimeModel::Fit::Candidate> RunTimeModel::Fit::by_regression(
    const FitTasks& known, std::vector<Candidate>& all) const {
  std::optional<Candidate> best;
  const double chance = kChance * mean_;
  for (const ModelFamily tried : kRegressions) {
    const Shape shape = shape_of(tried);
    if (parameters_.width(shape) == 0) continue;
    if (shape == Shape::squares && !parameters_.has_numbers()) continue;
    if (shape == Shape::logarithms && !parameters_.has_logarithms()) continue;
    if (of_logarithm(tried) && !(lowest_ > 0)) continue;
    const Table table = parameters_.table(known.tasks, shape);
    std::optional<Candidate> here;
    for (const double ridge : kRidges) {
      Candidate candidate = by_family(tried, known, table, ridge);
      if (!here || candidate.error < here->error) here = candidate;
      const bool simpler = best && tried == ModelFamily::polynomial && best->family != tried;
      const bool better = simpler ? candidate.error + chance < kSimpler * (best->error + chance)
                                  : !best || candidate.error < best->error;
      if (better) best = std::move(candidate);
    }
    all.push_back(std::move(*here));
  }
  return best;
}

RunTimeModel::Fit::Candidate RunTimeModel::Fit::by_family(ModelFamily tried, const FitTasks& known,
                                                          const Table& table, double ridge) const {
  Candidate candidate{tried};
  if (of_logarithm(tried)) {
    std::vector<double> logarithms;
    for (const double value : known.values) logarithms.push_back(std::log(value));
    candidate.ridge.emplace(table, logarithms, ridge);
  } else {
    candidate.ridge.emplace(table, known.values, ridge);
  }
  for (const double said : candidate.ridge->left_out())
    candidate.left_out.push_back(bounded(tried, said));
  if (of_logarithm(tried)) {
    // What is right in the mean of logarithms is too low in the mean.
    candidate.correction =
        std::clamp(mean_ / mean_of(candidate.left_out), 1 / kMostCorrection, kMostCorrection);
    for (double& said : candidate.left_out) said *= candidate.correction;
  }
  candidate.error = mean_error(candidate.left_out, known.values);
  return candidate;
}

double RunTimeModel::Fit::bounded(ModelFamily of, double said) const {
  if (std::isnan(said)) return mean_;
  const double value = of_logarithm(of) ? std::exp(said) : said;
  const double beyond = of == ModelFamily::exponential ? kBeyondExponential : kBeyond;
  return std::clamp(value, kBelow * lowest_, beyond * highest_);
}

double RunTimeModel::Fit::said_by(const Candidate& candidate, std::span<const Feature> task) const {
  std::vector<double> row;
  parameters_.append_row(task, shape_of(candidate.family), row);
  return candidate.correction * bounded(candidate.family, candidate.ridge->predict(row));
}

void RunTimeModel::Fit::widen(std::span<const Feature> task, Prediction& prediction) const {
  const auto [ranges, changed] = parameters_.outside(task);
  if (!(ranges > 0) && !(changed > 0)) return;
  double& low = prediction.low;
  double& high = prediction.high;
  const double value = prediction.value;
  const double before = high - low;
  for (const Candidate& other : others_) {
    const double said = said_by(other, task);
    low = std::min(low, said);
    high = std::max(high, said);
  }
  if (chosen_.ridge) {
    // What it takes at the edge of what was seen is known.
    const double added = value - said_by(chosen_, parameters_.drawn_inside(task));
    const double doubt = kDoubt * ranges / (1 + ranges) * std::abs(added);
    low = std::min(low, value - doubt);
    high = std::max(high, value + doubt);
    if (value < lowest_) high = std::max(high, lowest_);
    if (value > kFar * highest_) low = std::min(low, kFar * highest_);
  }
  // Nobody knows what follows from what was always the same.
  const double times = 1 + std::min(changed, kFar - 1);
  low = std::max(std::min(low, value / times), 0.0);
  high = std::max(high, value * times);
  if (high - low > before)
    prediction.stretch = before > 0
                             ? std::min(prediction.stretch * (high - low) / before, kMostStretch)
                             : kMostStretch;
}

double RunTimeModel::Fit::expected(std::span<const Feature> task, const FitTasks& known) const {
  if (chosen_.ridge) return said_by(chosen_, task);
  return family == ModelFamily::neighbours ? near(task, known, kNobody) : mean_;
}

RunTimeModel::Prediction RunTimeModel::Fit::predict(std::span<const Feature> task,
                                                    const FitTasks& known) const {
  Prediction prediction{mean_, 0, 0, family};
  double stretch = 1 + 2 / static_cast<double>(known.values.size());
  if (chosen_.ridge) {
    std::vector<double> row;
    parameters_.append_row(task, shape_of(family), row);
    prediction.value = chosen_.correction * bounded(family, chosen_.ridge->predict(row));
    // Where nothing was seen, less is known.
    const double further =
        (1 + chosen_.ridge->distance(row)) / (1 + chosen_.ridge->mean_distance());
    if (further > 1) prediction.stretch = std::min(std::sqrt(further), kMostStretch);
    stretch = std::min(stretch * prediction.stretch, kMostStretch);
  } else if (family == ModelFamily::neighbours) {
    prediction.value = near(task, known, kNobody);
  }
  const double value = prediction.value;
  const double least = std::min(relative_ ? value * (below_ - 1) : below_, 0.0);
  const double most = std::max(relative_ ? value * (above_ - 1) : above_, 0.0);
  const double never_exact = kNeverExact * value;
  constexpr double kMost = 1e150;  // beyond any value, and finite
  prediction.likely_high = std::clamp(value + most * stretch, value, kMost);
  prediction.low = std::max(value + std::min(least, -never_exact) * stretch, 0.0);
  prediction.high = std::clamp(value + std::max(most, never_exact) * stretch, value, kMost);
  widen(task, prediction);
  prediction.high = std::min(prediction.high, kMost);
  return prediction;
}

}  // namespace gantry::forecast
