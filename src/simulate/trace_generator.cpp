#include "simulate/trace_generator.hpp"

#include <fmt/format.h>

#include <array>
#include <boost/random/normal_distribution.hpp>
#include <cmath>
#include <functional>
#include <utility>

namespace gantry::simulate {

namespace {

/// Beyond, a host is all but either free or lost, and the quadrature below is no longer exact.
constexpr double kWidestLogit = 8;

double logistic(double x) {
  return 1 / (1 + std::exp(-x));
}

Result<> check_times(const TraceShape& shape) {
  const bool good = std::isfinite(shape.mean) && std::isfinite(shape.deviation) &&
                    shape.deviation >= 0 && std::isfinite(shape.step) && shape.step > 0 &&
                    std::isfinite(shape.correlation_time) && shape.correlation_time >= 0 &&
                    shape.steps > 0;
  if (!good) {
    return fail(
        ErrorCode::usage,
        "a generated trace needs finite numbers, a positive step and number of steps, and a "
        "deviation and correlation time that are not negative");
  }
  return {};
}

double memory_of(const TraceShape& shape) {
  return shape.correlation_time > 0 ? std::exp(-shape.step / shape.correlation_time) : 0;
}

struct Moments {
  double mean = 0;
  double deviation = 0;
  double slope = 0;  ///< by which the mean rises with that of X
};

/// Of logistic(X), X normal: the trapezoidal rule over ±8 deviations, which for such a smooth
/// integrand is exact to seven digits and more. The deviation comes from differences, not from a
/// difference of squares.
Moments logistic_moments(double mean, double deviation) {
  constexpr int kNodes = 96;
  static const auto kWeights = [] {
    std::array<double, kNodes + 1> weights{};
    double sum = 0;
    for (int i = 0; i <= kNodes; ++i) {
      const double z = -8.0 + 16.0 * i / kNodes;
      sum += weights[static_cast<std::size_t>(i)] = std::exp(-z * z / 2);
    }
    for (double& weight : weights) weight /= sum;
    return weights;
  }();
  std::array<double, kNodes + 1> values{};
  Moments moments;
  for (std::size_t i = 0; i <= kNodes; ++i) {
    const double z = -8.0 + 16.0 * static_cast<double>(i) / kNodes;
    values[i] = logistic(mean + deviation * z);
    moments.mean += kWeights[i] * values[i];
  }
  double variance = 0;
  for (std::size_t i = 0; i <= kNodes; ++i) {
    variance += kWeights[i] * (values[i] - moments.mean) * (values[i] - moments.mean);
    moments.slope += kWeights[i] * values[i] * (1 - values[i]);
  }
  moments.deviation = std::sqrt(variance);
  return moments;
}

/// Where the rising function reaches `target`, within the bounds.
double bisect(double low, double high, double target, const std::function<double(double)>& rising) {
  for (int i = 0; i < 48; ++i) {
    const double middle = (low + high) / 2;
    (rising(middle) < target ? low : high) = middle;
  }
  return (low + high) / 2;
}

/// The mean that X must have for logistic(X) to have this one, if X deviates by s. Newton's steps,
/// and halves of what is left where one would leave it.
double logit_mean(double target, double centre, double s) {
  // The answer moves away from the centre by less than about s²/2 + s.
  const double reach = s * s / 2 + s + 1;
  double low = centre - reach;
  double high = centre + reach;
  double mean = centre;
  for (int i = 0; i < 60; ++i) {
    const Moments moments = logistic_moments(mean, s);
    const double step = (target - moments.mean) / moments.slope;
    if (std::abs(step) <= 1e-14 * (1 + std::abs(mean))) break;
    (step > 0 ? low : high) = mean;
    mean += step;
    if (!(mean > low && mean < high)) mean = (low + high) / 2;
  }
  return mean;
}

}  // namespace

/// Boost's normal distribution, as the standard library's differs between implementations.
Trace TraceModel::generate(Random& random) const {
  boost::random::normal_distribution<double> normal;
  const double noise = process.deviation * std::sqrt(1 - process.memory * process.memory);
  double away = process.deviation * normal(random);  // from the mean
  std::vector<TraceStep> steps;
  steps.reserve(shape.steps);
  for (std::uint32_t i = 0; i < shape.steps; ++i) {
    steps.push_back({i * shape.step, transform(process.mean + away)});
    away = process.memory * away + noise * normal(random);
  }
  return Trace::make(std::move(steps), shape.steps * shape.step).value();
}

Result<TraceModel> availability_model(const TraceShape& shape) {
  TRY(check_times(shape));
  if (!(shape.mean > 0 && shape.mean < 1)) {
    return fail(ErrorCode::usage,
                fmt::format("a mean availability of {} is not between 0 and 1", shape.mean));
  }
  const double centre = std::log(shape.mean / (1 - shape.mean));
  const auto mean_for = [&](double s) { return logit_mean(shape.mean, centre, s); };
  const auto deviation_for = [&](double s) { return logistic_moments(mean_for(s), s).deviation; };
  if (const double most = deviation_for(kWidestLogit); shape.deviation > most) {
    return fail(ErrorCode::usage,
                fmt::format("an availability with mean {} cannot deviate by {}: at most {:.3f}",
                            shape.mean, shape.deviation, most));
  }
  const double deviation =
      shape.deviation == 0 ? 0 : bisect(0, kWidestLogit, shape.deviation, deviation_for);
  return TraceModel{shape, {mean_for(deviation), deviation, memory_of(shape)}, logistic};
}

Result<TraceModel> bandwidth_model(const TraceShape& shape) {
  TRY(check_times(shape));
  if (!(shape.mean > 0)) {
    return fail(ErrorCode::usage,
                fmt::format("a mean bandwidth of {} is not positive", shape.mean));
  }
  // E X = exp(m + s²/2) and Var X = (E X)² (exp(s²) - 1), solved for m and s.
  const double ratio = shape.deviation / shape.mean;
  const double variance = std::log1p(ratio * ratio);
  const double mean = std::log(shape.mean) - variance / 2;
  return TraceModel{
      shape, {mean, std::sqrt(variance), memory_of(shape)}, [](double x) { return std::exp(x); }};
}

}  // namespace gantry::simulate
