#pragma once
/// Opens the store of a state directory, and finds the runs that a question is about.

#include <filesystem>
#include <functional>
#include <string_view>
#include <vector>

#include "model/application.hpp"
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

/// Builds the study of a stored run. An error if it gives other tasks now, or cannot be read.
using ReloadStudy = std::function<Result<Application>(const store::RunRecord& record)>;

/// If there is no state yet, the error says what to do.
Result<store::Store> open_store(const std::filesystem::path& state_dir,
                                store::Access access = store::Access::read_only);

/// `selector` is "last", "all" or a run's number. Oldest first; only "all" may return no runs.
Result<StoredRuns> open_runs(const std::filesystem::path& state_dir, std::string_view selector,
                             store::Access access = store::Access::read_only);

/// `selector` is "last" or a run's number.
Result<StoredRun> open_run(const std::filesystem::path& state_dir, std::string_view selector,
                           store::Access access = store::Access::read_only);

}  // namespace gantry::query
