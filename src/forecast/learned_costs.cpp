#include "forecast/learned_costs.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "base/chance.hpp"

namespace gantry::forecast {

namespace {

/// Nobody waits so long for a task: somebody has set a clock.
constexpr double kLongestTask = 1e7;
constexpr std::size_t kRemembered = RunTimeModel::kKept;
/// Tasks that are looked at to see whether another model makes a difference, and how much does.
constexpr std::uint32_t kCompared = 64;
constexpr double kDifference = 0.05;
const double kCostStep = std::log(1.05);
constexpr double kLeastCost = 1e-3;
constexpr double kLeastUnit = 1e-9;
/// Beyond that an interval tells nothing.
constexpr double kMostBeyond = 4;
/// What is believed of a host's speed counts as so many tasks.
constexpr double kBelieved = 1;
/// Models and hosts' speeds are found by turns.
constexpr int kTurns = 3;
/// With several hosts so many tasks, and so many more for each: whether tasks or hosts differ
/// cannot be told from fewer.
constexpr std::size_t kFirst = 4;
constexpr std::size_t kEachHost = 3;

double seconds_of(const RunTimeModel& model, const Features& task) {
  return model.expected(task).value_or(0);
}

bool is_regression(const RunTimeModel& model) {
  return model.family() != ModelFamily::mean && model.family() != ModelFamily::neighbours;
}

}  // namespace

LearnedCosts::LearnedCosts(std::uint32_t count, FeaturesOf features, RunTimeModel kept)
    : count_(count), features_(std::move(features)), kept_(std::move(kept)) {
  kept_.age();
  if (!learns() || count_ == 0 || !kept_.takes(features_(TaskId(1)).size())) kept_ = {};
  if (kept_.observations() > 0 && is_quick(kept_)) use(kept_);
}

void LearnedCosts::extend(std::uint32_t count) {
  count_ = count;
  if (model_) use(RunTimeModel(*model_));
}

bool LearnedCosts::is_quick(const RunTimeModel& model) const {
  return model.family() != ModelFamily::neighbours || count_ <= kMostByNeighbours;
}

double LearnedCosts::cost(TaskId task) const {
  if (!known()) return 1;
  const auto expected = model_->expected(features_(task));
  if (!expected) return 1;
  const double cost = std::max(*expected / unit_, kLeastCost);
  return std::exp(std::round(std::log(cost) / kCostStep) * kCostStep);
}

Margin LearnedCosts::margin_from(std::uint32_t index) const {
  if (!beyond_) return {};
  const double mean = seconds_profile_.mean_from(index);
  return {std::min(below_.mean_from(index) / mean, 1.0),
          std::min(above_.mean_from(index) / mean, kMostBeyond)};
}

std::optional<std::pair<double, double>> LearnedCosts::spread(TaskId task) const {
  if (!known()) return std::nullopt;
  const auto prediction = newest_->predict(features_(task));
  if (!prediction || !(prediction->value > 0)) return std::nullopt;
  return std::pair(prediction->low / prediction->value, prediction->high / prediction->value);
}

bool LearnedCosts::worth_learning() const {
  return seconds_ >= kWorthLearning * static_cast<double>(observed_);
}

bool LearnedCosts::has_enough() const {
  std::set<HostId> hosts;
  for (const Seen& one : seen_) hosts.insert(one.host);
  return hosts.size() < 2 || seen_.size() >= kFirst + kEachHost * hosts.size();
}

bool LearnedCosts::ran(TaskId task, HostId host, double speed, double seconds) {
  if (!learns() || !(seconds > 0 && seconds <= kLongestTask)) return false;
  ++observed_;
  seconds_ += seconds;
  const Seen one{task, host, speed > 0 && std::isfinite(speed) ? speed : 1, seconds};
  if (seen_.size() < kRemembered)
    seen_.push_back(one);
  else if (const std::uint64_t place = mixed(observed_) % observed_; place < kRemembered)
    seen_[place] = one;
  if (observed_ < next_fit_ || !worth_learning() || !has_enough()) return false;
  next_fit_ = observed_ + std::max<std::uint64_t>(1, observed_ / 4);
  RunTimeModel model = fit().model;
  if (!makes_a_difference(model)) {
    if (known()) newest_ = std::move(model);
    return false;
  }
  use(std::move(model));
  return true;
}

/// Long tasks may all be on fast hosts: neither can be told without the other.
LearnedCosts::Fitted LearnedCosts::fit() const {
  struct Speed {
    double believed = 1;  ///< seconds for a second of the model
    double factor = 1;    ///< the same, as seen
    double seconds = 0;
    double predicted = 0;
  };
  std::map<HostId, Speed> hosts;
  std::vector<Features> tasks;
  for (const Seen& one : seen_) {
    tasks.push_back(features_(one.task));
    Speed& host = hosts[one.host];
    host.believed = host.factor = 1 / one.speed;
    host.seconds += one.seconds;
  }
  const auto find_factors = [&](const RunTimeModel& by) {
    double mean = 0;
    for (auto& [id, host] : hosts) host.predicted = 0;
    for (std::size_t i = 0; i < seen_.size(); ++i) {
      const double predicted = seconds_of(by, tasks[i]);
      hosts[seen_[i].host].predicted += predicted;
      mean += kBelieved * predicted / static_cast<double>(seen_.size());
    }
    if (!(mean > 0)) return;
    for (auto& [id, host] : hosts)
      host.factor = (host.seconds + host.believed * mean) / (host.predicted + mean);
  };
  Fitted fitted;
  const bool has_kept = kept_.observations() > 0;
  if (has_kept) find_factors(kept_);
  const int turns = hosts.size() > 1 || has_kept ? kTurns : 1;
  for (int turn = 0; turn < turns; ++turn) {
    if (turn > 0) find_factors(fitted.model);
    std::vector<double> values;
    for (const Seen& one : seen_) values.push_back(one.seconds / hosts[one.host].factor);
    fitted.model = kept_;
    fitted.model.observe_all(tasks, values);
  }
  if (!hosts.empty())
    fitted.first_host = hosts.begin()->second.factor / hosts.begin()->second.believed;
  return fitted;
}

bool LearnedCosts::makes_a_difference(const RunTimeModel& model) const {
  if (!is_quick(model)) return false;
  const std::uint32_t step = (count_ - 1) / kCompared + 1;
  std::vector<double> ratios;
  double mean = 0;
  for (std::uint32_t i = 1; i <= count_; i += step) {
    const Features task = features_(TaskId(i));
    const double before = model_ ? seconds_of(*model_, task) : 1;
    const double now = seconds_of(model, task);
    if (!(before > 0) || !(now > 0)) continue;
    ratios.push_back(std::log(now / before));
    mean += ratios.back();
  }
  // If all take longer by the same part, hosts are that much slower, and that is learnt elsewhere.
  const auto count = static_cast<double>(ratios.size());
  double apart = 0;
  for (const double ratio : ratios) apart += std::abs(ratio - mean / count);
  return apart > kDifference * count;
}

void LearnedCosts::use(RunTimeModel model) {
  model_ = std::move(model);
  newest_ = model_;
  using Prediction = RunTimeModel::Prediction;
  const auto profile_of = [&](const auto& value) {
    return CostProfile(count_, [&](std::uint32_t index) {
      const auto prediction = model_->predict(features_(TaskId(index + 1)));
      constexpr double kNothing = 1e-12;  // nothing at all would count as 1
      return prediction ? std::max(value(*prediction), kNothing) : kNothing;
    });
  };
  seconds_profile_ = profile_of([](const Prediction& p) { return p.value; });
  unit_ = std::max(seconds_profile_.mean_from(0), kLeastUnit);
  beyond_ = is_regression(*model_);
  if (!beyond_) return;
  // By how much a task's interval is wider than among known tasks is not its own chance, which over
  // many adds up to little, but what is not known of all of them.
  const auto shared = [](const Prediction& p) {
    return std::sqrt(1 - 1 / (p.stretch * p.stretch));
  };
  below_ = profile_of([&](const Prediction& p) { return (p.value - p.low) * shared(p); });
  above_ = profile_of([&](const Prediction& p) { return (p.high - p.value) * shared(p); });
}

std::optional<RunTimeModel> LearnedCosts::to_keep() const {
  if (seen_.empty() || !worth_learning()) return std::nullopt;
  Fitted fitted = fit();
  fitted.model.scale(fitted.first_host);
  return std::move(fitted.model);
}

}  // namespace gantry::forecast
