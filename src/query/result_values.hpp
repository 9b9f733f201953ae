#pragma once
/// Values of tasks by name: parameters first, then results. Pure, any thread.

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "store/store.hpp"

namespace gantry::query {

using Bindings = std::vector<std::pair<std::string, std::string>>;

/// The run's parameters, then its results.
std::vector<std::string> column_names(const store::RunRecord& run);

/// Null if there is none. Looks at index `expected` first, because values are nearly always in the
/// order of their names.
const std::string* find_value(const Bindings& values, std::string_view name,
                              std::size_t expected = 0);
/// A parameter or a result of the task.
const std::string* find_value(const store::TaskRow& row, std::string_view name);

/// Calls `use` with the task's value of each column, or with an empty text.
template <class Use>
void for_each_value(const store::RunRecord& run, const store::TaskRow& row, const Use& use) {
  static const std::string kNone;
  const auto use_all = [&](const std::vector<std::string>& names, const Bindings& values) {
    for (std::size_t i = 0; i < names.size(); ++i) {
      const std::string* value = find_value(values, names[i], i);
      use(value != nullptr ? *value : kNone);
    }
  };
  use_all(run.parameter_names, row.parameters);
  use_all(run.result_names, row.results);
}

}  // namespace gantry::query
