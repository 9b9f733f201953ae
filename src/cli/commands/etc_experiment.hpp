#pragma once
/// `gantry simulate etc`: how the classic heuristics for independent tasks on unrelated machines,
/// and an optimiser, compare with a lower bound.

#include "cli/commands/simulate_options.hpp"
#include "cli/context.hpp"

namespace gantry::cli {

/// Without files, one instance of each class is made from the seed.
Result<int> run_etc_experiment(Context& context, const SimulateOptions& options);

}  // namespace gantry::cli
