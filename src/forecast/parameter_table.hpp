#pragma once
/// Parameters of tasks as rows of numbers, for regression: numbers as they are, as logarithms, or
/// with their squares and products; words as a column each. What a column can be is seen from the
/// tasks that are known. A value.

#include <cstddef>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "forecast/regression.hpp"

namespace gantry::forecast {

/// One parameter of a task.
using Feature = std::variant<double, std::string>;
using Features = std::vector<Feature>;
/// A number, if the text is a finite one; else a word.
[[nodiscard]] Feature feature_of(std::string_view text);

/// What is done to numbers before they are added up.
enum class Shape { plain, squares, logarithms };

class ParameterTable {
 public:
  /// REQUIRES: as many features in each task, at least one task.
  explicit ParameterTable(std::span<const Features> tasks);

  [[nodiscard]] bool has_numbers() const { return numbers_ > 0; }
  /// Whether logarithms are possible of any parameter.
  [[nodiscard]] bool has_logarithms() const { return positive_ > 0; }
  [[nodiscard]] std::size_t width(Shape shape) const;
  /// Words that were not seen count as none of those that were.
  void append_row(std::span<const Feature> task, Shape shape, std::vector<double>& to) const;
  [[nodiscard]] Table table(std::span<const Features> tasks, Shape shape) const;

  /// Of two tasks: the sum of squares, of numbers in their standard deviation, of words 1 for each
  /// that is another.
  [[nodiscard]] double distance(std::span<const Feature> a, std::span<const Feature> b) const;

  /// How far the task's numbers lie outside of those that were seen.
  struct Outside {
    double ranges = 0;   ///< of the furthest: as part of the range seen
    double changed = 0;  ///< of those that were all the same: as part of what they were
  };
  [[nodiscard]] Outside outside(std::span<const Feature> task) const;
  /// The task with its numbers drawn to the nearest that was seen.
  [[nodiscard]] Features drawn_inside(std::span<const Feature> task) const;

 private:
  struct Parameter {
    bool number = false;  ///< in all tasks
    double lowest = 0;
    double highest = 0;
    double scale = 0;                  ///< 1 / standard deviation; 0 when constant
    std::vector<std::string> words{};  ///< in order; empty when there are too many to tell apart
  };
  static Parameter look_at(std::span<const Features> tasks, std::size_t index);

  std::vector<Parameter> parameters_;
  std::size_t numbers_ = 0;
  std::size_t positive_ = 0;
  std::size_t words_ = 0;
};

}  // namespace gantry::forecast
