#include "forecast/run_time_model.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "base/chance.hpp"
#include "forecast/model_fit.hpp"

namespace gantry::forecast {

namespace {
/// Products of two, and the squares of these, must be finite.
constexpr double kMostNumber = 1e50;
constexpr double kMostTaken = 1e100;
/// Of one task only: half as much, or half as much again.
constexpr double kUnknownPart = 0.5;

/// As it is kept: nothing that cannot be calculated with.
std::optional<Features> usable(std::span<const Feature> task) {
  Features kept(task.begin(), task.begin() + static_cast<std::ptrdiff_t>(std::min(
                                                 task.size(), RunTimeModel::kMostFeatures)));
  for (Feature& feature : kept) {
    if (const auto* number = std::get_if<double>(&feature)) {
      if (!(std::abs(*number) <= kMostNumber)) return std::nullopt;
    } else {
      auto& word = std::get<std::string>(feature);
      word.resize(std::min(word.size(), RunTimeModel::kMostWord));
    }
  }
  return kept;
}
}  // namespace

std::string_view family_name(ModelFamily family) {
  constexpr std::array<std::string_view, 7> kNames{
      "mean", "neighbours", "linear", "polynomial", "logarithmic", "exponential", "power"};
  return kNames[static_cast<std::size_t>(family)];
}

bool RunTimeModel::observe(std::span<const Feature> task, double value) {
  if (!(value >= 0 && value <= kMostTaken)) return false;
  auto kept = usable(task);
  if (!kept || (!tasks_.empty() && kept->size() != tasks_.front().size())) return false;
  keep(std::move(*kept), value);
  if (seen_ >= next_fit_) fit();
  return true;
}

void RunTimeModel::observe_all(std::span<const Features> tasks, std::span<const double> values) {
  const std::uint64_t before = seen_;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    next_fit_ = std::numeric_limits<std::uint64_t>::max();
    observe(tasks[i], values[i]);
  }
  if (seen_ > before) fit();
}

void RunTimeModel::scale(double by) {
  for (double& value : values_) value = std::min(value * by, kMostTaken);
  if (seen_ > 0) fit();
}

void RunTimeModel::age() {
  seen_ = std::min<std::uint64_t>(seen_, tasks_.size());
  next_fit_ = std::min(next_fit_, after_fit());
}

std::uint64_t RunTimeModel::after_fit() const {
  return seen_ + std::max<std::uint64_t>(1, seen_ / 4);
}

void RunTimeModel::keep(Features task, double value) {
  ++seen_;
  if (tasks_.size() < kKept) {
    tasks_.push_back(std::move(task));
    values_.push_back(value);
    return;
  }
  const std::uint64_t place = mixed(seen_) % seen_;
  if (place >= kKept) return;
  tasks_[place] = std::move(task);
  values_[place] = value;
}

void RunTimeModel::fit() {
  fit_ = std::make_shared<const Fit>(FitTasks{tasks_, values_});
  next_fit_ = after_fit();
}

std::optional<RunTimeModel::Prediction> RunTimeModel::predict(std::span<const Feature> task) const {
  if (!fit_) return std::nullopt;
  const auto kept = usable(task);
  if (!kept || kept->size() != tasks_.front().size()) return std::nullopt;
  Prediction prediction = fit_->predict(*kept, {tasks_, values_});
  if (seen_ == 1) {
    prediction.low = prediction.value * (1 - kUnknownPart);
    prediction.likely_high = prediction.high = prediction.value * (1 + kUnknownPart);
  }
  return prediction;
}

std::optional<double> RunTimeModel::expected(std::span<const Feature> task) const {
  if (!fit_) return std::nullopt;
  const auto kept = usable(task);
  if (!kept || kept->size() != tasks_.front().size()) return std::nullopt;
  return fit_->expected(*kept, {tasks_, values_});
}

bool RunTimeModel::takes(std::size_t parameters) const {
  return tasks_.empty() || tasks_.front().size() == std::min(parameters, kMostFeatures);
}

double RunTimeModel::most() const {
  return values_.empty() ? 0 : *std::ranges::max_element(values_);
}

ModelFamily RunTimeModel::family() const {
  return fit_ ? fit_->family : ModelFamily::mean;
}

double RunTimeModel::error_of_mean() const {
  return fit_ ? fit_->error_of_mean : 1;
}

}  // namespace gantry::forecast
