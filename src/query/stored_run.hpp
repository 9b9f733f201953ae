#pragma once
/// Finding the runs that a question is about, in a state directory.

#include <filesystem>
#include <functional>
#include <string_view>
#include <vector>

#include "model/sweep.hpp"
#include "store/store.hpp"

namespace gantry::query {

struct StoredRun {
  store::Store store;
  store::RunRecord record;
};

struct StoredRuns {
  store::Store store;
  std::vector<store::RunRecord> records;
};

/// The study of a stored run. An error when it gives other tasks now, or cannot be read.
using ReloadSweep = std::function<Result<Sweep>(const store::RunRecord& record)>;

/// The error says what to do when there is no state yet.
Result<store::Store> open_store(const std::filesystem::path& state_dir,
                                store::Access access = store::Access::read_only);

/// `selector` is "last", "all" or a run's number. Oldest first; only "all" may be none.
Result<StoredRuns> open_runs(const std::filesystem::path& state_dir, std::string_view selector,
                             store::Access access = store::Access::read_only);

/// `selector` is "last" or a run's number.
Result<StoredRun> open_run(const std::filesystem::path& state_dir, std::string_view selector,
                           store::Access access = store::Access::read_only);

}  // namespace gantry::query
