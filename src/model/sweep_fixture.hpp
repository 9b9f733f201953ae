#pragma once
/// For tests of how tasks are numbered: a sweep of two parameters, and what its tasks say.

#include <string>
#include <utility>
#include <vector>

#include "model/application.hpp"
#include "model/sweep_definition.hpp"

namespace gantry {

using Texts = std::vector<std::string>;

inline SweepDefinition definition_of(Texts a, Texts b) {
  SweepDefinition result;
  result.name = "t";
  result.base_dir = "/base";
  result.command = {{"e {a} {b} {#}", {}, false}};
  result.parameters.push_back({"a", ParameterValues::list(std::move(a))});
  result.parameters.push_back({"b", ParameterValues::list(std::move(b))});
  return result;
}

inline Sweep sweep_of(Texts a, Texts b) {
  return Sweep::build(definition_of(std::move(a), std::move(b))).value();
}

/// "e a1 b1 1" of each task.
inline Texts commands_of(const Application& application) {
  Texts result;
  for (std::uint32_t i = 1; i <= application.size(); ++i)
    result.push_back(application.task(TaskId(i)).argv.front());
  return result;
}

}  // namespace gantry
