#pragma once
/// `gantry simulate etc`: how the classic heuristics for independent tasks on unrelated machines,
/// and an optimiser, compare with a lower bound.

#include <cstdint>
#include <string>
#include <vector>

#include "cli/context.hpp"

namespace gantry::cli {

struct EtcExperimentOptions {
  std::vector<std::string> files;  ///< none: one instance of each class is made from the seed
  std::string optimize;            ///< how long to search, on one core each; empty = not
  std::uint64_t seed = 1;
  std::uint32_t jobs = 0;  ///< 0 = one a core
  bool json = false;
};

Result<int> run_etc_experiment(Context& context, const EtcExperimentOptions& options);

}  // namespace gantry::cli
