#pragma once
/// Large output lies in pack files beside the database: they must be on disk before a commit refers
/// to them. Owned by a Store, used from its thread.

#include <filesystem>
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "model/event.hpp"

namespace gantry::store {

/// Waits until a file's data, or a folder's list of names, is on disk. A file that is not there is
/// no error: whoever reads the output will say so.
Result<> sync_to_disk(const std::filesystem::path& path);

class PackSync {
 public:
  using Sync = std::function<Result<>(const std::filesystem::path&)>;

  /// Packs lie below `state_dir`/output.
  explicit PackSync(std::filesystem::path state_dir, Sync sync = sync_to_disk)
      : state_dir_(std::move(state_dir)), sync_(std::move(sync)) {}

  /// All packs that these events refer to, each once.
  Result<> sync(const std::vector<std::pair<RunId, Event>>& events);

 private:
  Result<> sync_name(const std::filesystem::path& pack);

  std::filesystem::path state_dir_;
  Sync sync_;
  std::set<std::string> named_;  ///< packs whose names are on disk
};

}  // namespace gantry::store
