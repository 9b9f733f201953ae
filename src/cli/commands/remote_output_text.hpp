#pragma once
/// What a person is told about outputs that stayed at sites.

#include <string>

#include "query/remote_outputs.hpp"

namespace gantry::cli {

/// "3 outputs (1 MiB) are kept at lab; gantry fetch brings them home", and what other runs have
/// there; empty when no output is at a site.
std::string remote_output_text(const store::RunRecord& run, const query::OutputsAtSites& outputs);

}  // namespace gantry::cli
