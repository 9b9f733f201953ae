#pragma once
/// Asks the gantry that drives runs here to run more studies, from another process.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include "store/store.hpp"

namespace gantry::query {

struct JoinedRuns {
  std::vector<RunId> runs{};  ///< one per study, in their order
  int holder = 0;             ///< the process that drives them
  std::int64_t since = 0;     ///< the newest event before they joined, for Store::follow_ends()
};

/// Nothing if no gantry drives runs here, or it ended meanwhile. An error says why that gantry
/// cannot run a study.
Result<std::optional<JoinedRuns>> join_driver(const std::filesystem::path& state_dir,
                                              const std::vector<store::StudyRequest>& studies);

}  // namespace gantry::query
