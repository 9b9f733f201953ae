#include "forecast/host_paces.hpp"

#include <algorithm>
#include <cmath>

#include "forecast/run_time.hpp"

namespace gantry::forecast {

namespace {

/// Hosts that are alike seem to differ by chance. So many standard deviations beyond what that
/// comes to on average are not believed: to take chance for speeds is worse than the reverse.
/// Found on small erratic runs (`gantry simulate eta --kind`, seeds 5 and 6).
constexpr double kDoubted = 2;
/// Logarithm: a million times. Declared speeds can be absurd.
constexpr double kFarthest = 14;

double square(double value) {
  return value * value;
}

}  // namespace

void HostPaces::add(const RunTimeSample& sample, double speed) {
  if (sample.empty()) return;
  hosts_.push_back(
      {static_cast<double>(sample.size()), sample.log_mean() + std::log(usable_cost(speed))});
  squares_ += sample.log_squares();
}

void HostPaces::settle() {
  double tasks = 0;
  double sum = 0;
  for (const Seen& host : hosts_) {
    tasks += host.tasks;
    sum += host.tasks * host.log_mean;
  }
  const auto hosts = static_cast<double>(hosts_.size());
  // One task on each tells nothing of whether it is hosts that differ, or tasks.
  if (hosts < 2 || tasks <= hosts) return;
  within_ = squares_ / (tasks - hosts);
  between_ = found_between(tasks, sum / tasks);
  if (between_ > 0) usual_ = mean_of_hosts();
}

// The method of moments of an analysis of variance with one random effect, n_h tasks on host h, N
// in all: the mean square of hosts is expected to be within + between * (N - sum n_h^2 / N) /
// (hosts - 1). The ratio of mean squares of hosts that are alike follows an F distribution, whose
// variance is about the sum of 2 / degrees of freedom.
double HostPaces::found_between(double tasks, double mean) const {
  const double free = static_cast<double>(hosts_.size()) - 1;
  double apart = 0;
  double squares = 0;
  for (const Seen& host : hosts_) {
    apart += host.tasks * square(host.log_mean - mean);
    squares += square(host.tasks);
  }
  const double doubt = kDoubted * std::sqrt(2 / free + 2 / (tasks - free - 1));
  const double excess = apart / free - within_ * (1 + doubt);
  return std::max(excess * free / (tasks - squares / tasks), 0.0);
}

double HostPaces::mean_of_hosts() const {
  double sum = 0;
  double weights = 0;
  for (const Seen& host : hosts_) {
    const double weight = 1 / (between_ + within_ / host.tasks);
    sum += weight * host.log_mean;
    weights += weight;
  }
  return sum / weights;
}

HostPace HostPaces::of(const RunTimeSample* sample, double speed) const {
  const double declared = usable_cost(speed);
  if (!(between_ > 0)) return {1 / declared, 0};
  if (sample == nullptr || sample->empty()) return {1 / declared, std::sqrt(between_)};
  const double believed = between_ / (between_ + within_ / static_cast<double>(sample->size()));
  const double away = believed * (sample->log_mean() + std::log(declared) - usual_);
  return {std::exp(std::clamp(away, -kFarthest, kFarthest)) / declared,
          std::sqrt(between_ * (1 - believed))};
}

}  // namespace gantry::forecast
