#pragma once
/// The formulas of a sweep (`when:`, `derived:`, `cost:`) over its parameters, evaluated by
/// muparser. Text parameters can be compared with text; numbers are doubles. Holds the variables'
/// current values: one thread.

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "model/source_mark.hpp"

namespace gantry {

class ExpressionSet {
 public:
  /// `file` is for messages.
  explicit ExpressionSet(std::string file);
  ExpressionSet(ExpressionSet&&) noexcept;
  ExpressionSet& operator=(ExpressionSet&&) noexcept;
  ~ExpressionSet();

  /// Variables get the slots 0, 1, 2 … in the order in which they are added.
  void add_number(std::string name);
  /// `values` are all that it can have; they must outlive the set.
  void add_text(std::string name, std::span<const std::string> values);

  /// Expressions are numbered 0, 1, 2 … They see the variables added before them.
  Result<std::size_t> parse(const SourceText& source);
  /// Call once, after the last parse and before the first evaluate: orders all texts, so that <
  /// compares them.
  void finish();

  /// Some expression mentions the variable.
  [[nodiscard]] bool uses(std::size_t slot) const;
  void set_number(std::size_t slot, double value);
  void set_text(std::size_t slot, std::size_t value_index);
  [[nodiscard]] double evaluate(std::size_t expression) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace gantry
