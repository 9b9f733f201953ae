#pragma once
/// Outputs that stayed at the sites where they were made: which of them belong to a run, and what a
/// person is told of them. The same for whoever shows them and for whoever fetches them.

#include <string>
#include <vector>

#include "cli/commands/selector.hpp"
#include "store/store.hpp"

namespace gantry::cli {

using KeptOutputs = std::vector<store::Store::RemoteOutput>;

/// Of `all` what the chosen tasks of the run have made, also when an earlier run made it for them.
KeptOutputs kept_of(const store::RunRecord& run, const TaskSelector& tasks, KeptOutputs all);

/// "3 outputs (1 MiB) are kept at lab; gantry fetch brings them home", and what other runs have
/// there; empty when nothing is.
Result<std::string> kept_text(const store::Store& store, const store::RunRecord& run);

}  // namespace gantry::cli
