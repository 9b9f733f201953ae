#pragma once
/// `results:` of a sweep file -> definitions.

#include <vector>

#include "model/sweep_definition.hpp"
#include "spec/node_reader.hpp"

namespace gantry::spec {

Result<std::vector<ResultDefinition>> read_results(const NodeReader& reader, const YamlNode& node);

}  // namespace gantry::spec
