#pragma once
/// Files that must be on disk before something else happens: a commit that refers to them, or the
/// end of the only other copy. Many at once cost little more than one. Owned by whoever waits.

#include <filesystem>
#include <functional>
#include <set>
#include <utility>

#include "base/result.hpp"

namespace gantry::store {

class FileSync {
 public:
  using Sync = std::function<Result<>(const std::filesystem::path&)>;
  /// How it is done; tests have their own. What cannot be opened any more is somebody else's now,
  /// and no error.
  struct Disk {
    Sync one;    ///< a file, or a folder's list of names
    Sync whole;  ///< the file system that a folder is on
  };
  static Disk real_disk();

  explicit FileSync(Disk disk = real_disk()) : disk_(std::move(disk)) {}

  /// sync() waits for this one, and its name.
  void add(std::filesystem::path file) { files_.insert(std::move(file)); }
  [[nodiscard]] bool empty() const { return files_.empty(); }
  /// When it fails, the next one tries again.
  Result<> sync();

 private:
  Result<> sync_each();
  Result<> sync_file_systems();

  Disk disk_;
  std::set<std::filesystem::path> files_;
  std::set<std::filesystem::path> named_;  ///< folders whose own names are on disk
};

}  // namespace gantry::store
