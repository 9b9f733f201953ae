#include "forecast/parameter_table.hpp"

#include <algorithm>
#include <cmath>

#include "model/decimal.hpp"

namespace gantry::forecast {

namespace {
/// With more words each has too few tasks.
constexpr std::size_t kMostWords = 8;
constexpr std::size_t kMostOfAllWords = 32;
/// With more numbers their products are too many.
constexpr std::size_t kMostProducts = 4;

std::string word_of(const Feature& feature) {
  const auto* number = std::get_if<double>(&feature);
  return number != nullptr ? format_number(*number) : std::get<std::string>(feature);
}
}  // namespace

Feature feature_of(std::string_view text) {
  if (const auto number = parse_number(text)) return *number;
  return std::string(text);
}

ParameterTable::Parameter ParameterTable::look_at(std::span<const Features> tasks,
                                                  std::size_t index) {
  Parameter parameter;
  parameter.number = std::all_of(tasks.begin(), tasks.end(), [&](const Features& task) {
    return std::holds_alternative<double>(task[index]);
  });
  if (!parameter.number) {
    for (const Features& task : tasks) {
      std::string word = word_of(task[index]);
      const auto at = std::lower_bound(parameter.words.begin(), parameter.words.end(), word);
      if (at != parameter.words.end() && *at == word) continue;
      parameter.words.insert(at, std::move(word));
      if (parameter.words.size() <= kMostWords) continue;
      parameter.words.clear();
      break;
    }
    return parameter;
  }
  const auto count = static_cast<double>(tasks.size());
  double mean = 0;
  parameter.lowest = parameter.highest = std::get<double>(tasks[0][index]);
  for (const Features& task : tasks) {
    const double number = std::get<double>(task[index]);
    parameter.lowest = std::min(parameter.lowest, number);
    parameter.highest = std::max(parameter.highest, number);
    mean += number / count;
  }
  double variance = 0;
  for (const Features& task : tasks) {
    const double deviation = std::get<double>(task[index]) - mean;
    variance += deviation * deviation / count;
  }
  parameter.scale = variance > 0 ? 1 / std::sqrt(variance) : 0;
  return parameter;
}

ParameterTable::ParameterTable(std::span<const Features> tasks) {
  for (std::size_t i = 0; i < tasks[0].size(); ++i) {
    parameters_.push_back(look_at(tasks, i));
    Parameter& parameter = parameters_.back();
    if (parameter.number && parameter.scale > 0) ++numbers_;
    if (parameter.number && parameter.scale > 0 && parameter.lowest > 0) ++positive_;
    if (words_ + parameter.words.size() > kMostOfAllWords) parameter.words.clear();
    words_ += parameter.words.size();
  }
}

std::size_t ParameterTable::width(Shape shape) const {
  std::size_t width = numbers_ + words_;
  if (shape == Shape::squares)
    width += numbers_ > kMostProducts ? numbers_ : numbers_ * (numbers_ + 1) / 2;
  return width;
}

void ParameterTable::append_row(std::span<const Feature> task, Shape shape,
                                std::vector<double>& to) const {
  const std::size_t first = to.size();
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    const Parameter& parameter = parameters_[i];
    if (!parameter.number || parameter.scale == 0) continue;
    const auto* number = std::get_if<double>(&task[i]);
    const double value = number != nullptr ? *number : parameter.lowest;
    const bool logarithm = shape == Shape::logarithms && parameter.lowest > 0;
    // Nothing is known of what is not positive here: as the lowest.
    to.push_back(logarithm ? std::log(value > 0 ? value : parameter.lowest) : value);
  }
  if (shape == Shape::squares) {
    for (std::size_t i = first; i < first + numbers_; ++i)
      for (std::size_t j = first; j <= i; ++j)
        if (i == j || numbers_ <= kMostProducts) to.push_back(to[i] * to[j]);
  }
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    if (parameters_[i].words.empty()) continue;
    const std::string here = word_of(task[i]);
    for (const std::string& word : parameters_[i].words) to.push_back(word == here ? 1 : 0);
  }
}

Table ParameterTable::table(std::span<const Features> tasks, Shape shape) const {
  Table table{width(shape)};
  table.cells.reserve(tasks.size() * table.columns);
  for (const Features& task : tasks) append_row(task, shape, table.cells);
  return table;
}

ParameterTable::Outside ParameterTable::outside(std::span<const Feature> task) const {
  constexpr double kFurthest = 1e9;
  Outside outside;
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    const Parameter& parameter = parameters_[i];
    const auto* number = std::get_if<double>(&task[i]);
    if (!parameter.number || number == nullptr) continue;
    const double apart = std::max(parameter.lowest - *number, *number - parameter.highest);
    if (!(apart > 0)) continue;
    const double range = parameter.highest - parameter.lowest;
    double& most = range > 0 ? outside.ranges : outside.changed;
    const double unit = range > 0 ? range : std::abs(parameter.lowest);
    most = std::max(most, apart < kFurthest * unit ? apart / unit : kFurthest);
  }
  return outside;
}

Features ParameterTable::drawn_inside(std::span<const Feature> task) const {
  Features drawn(task.begin(), task.end());
  for (std::size_t i = 0; i < parameters_.size(); ++i)
    if (auto* number = std::get_if<double>(&drawn[i]); number != nullptr && parameters_[i].number)
      *number = std::clamp(*number, parameters_[i].lowest, parameters_[i].highest);
  return drawn;
}

double ParameterTable::distance(std::span<const Feature> a, std::span<const Feature> b) const {
  double sum = 0;
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    const auto* one = std::get_if<double>(&a[i]);
    const auto* other = std::get_if<double>(&b[i]);
    if (parameters_[i].number && one != nullptr && other != nullptr) {
      const double apart = (*one - *other) * parameters_[i].scale;
      sum += apart * apart;
    } else if (a[i] != b[i]) {
      sum += 1;
    }
  }
  return sum;
}

}  // namespace gantry::forecast
