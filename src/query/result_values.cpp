#include "query/result_values.hpp"

#include <algorithm>

namespace gantry::query {

std::vector<std::string> column_names(const store::RunRecord& run) {
  std::vector<std::string> names = run.parameter_names;
  names.insert(names.end(), run.result_names.begin(), run.result_names.end());
  return names;
}

const std::string* find_value(const Bindings& values, std::string_view name, std::size_t expected) {
  if (expected < values.size() && values[expected].first == name) return &values[expected].second;
  const auto found = std::ranges::find(values, name, &Bindings::value_type::first);
  return found != values.end() ? &found->second : nullptr;
}

const std::string* find_value(const store::TaskRow& row, std::string_view name) {
  const std::string* parameter = find_value(row.parameters, name);
  return parameter != nullptr ? parameter : find_value(row.results, name);
}

}  // namespace gantry::query
