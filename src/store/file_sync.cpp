#include "store/file_sync.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/fd.hpp"

namespace gantry::store {

namespace fs = std::filesystem;

namespace {

/// Of more than these, all that waits to be written on their disk is cheaper than one by one.
constexpr std::size_t kFew = 16;

template <class Wait>
Result<> sync_opened(const fs::path& path, const Wait& wait) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!fd || wait(fd.get()) == 0 || errno == EINVAL || errno == EROFS) return {};
  return fail_errno(path.string());
}

/// The folder, and those above it in which we may have made one.
std::set<fs::path> with_parents(fs::path folder, const std::set<fs::path>& known) {
  std::set<fs::path> folders{folder};
  while (!known.contains(folder) && folder.has_relative_path()) {
    folder = folder.parent_path();
    if (::access(folder.c_str(), W_OK) != 0) break;
    folders.insert(folder);
  }
  return folders;
}

}  // namespace

FileSync::Disk FileSync::real_disk() {
  return {.one = [](const fs::path& path) { return sync_opened(path, ::fsync); },
          .whole = [](const fs::path& path) { return sync_opened(path, ::syncfs); }};
}

Result<> FileSync::sync() {
  if (files_.empty()) return {};
  TRY(files_.size() > kFew ? sync_file_systems() : sync_each());
  files_.clear();
  return {};
}

Result<> FileSync::sync_each() {
  std::set<fs::path> folders;
  for (const auto& file : files_) {
    TRY(disk_.one(file));
    folders.merge(with_parents(file.parent_path(), named_));
  }
  for (const auto& folder : folders) TRY(disk_.one(folder));
  named_.merge(folders);
  return {};
}

Result<> FileSync::sync_file_systems() {
  std::set<dev_t> done;
  std::set<fs::path> folders;
  for (const auto& file : files_) folders.insert(file.parent_path());
  for (const auto& folder : folders) {
    struct stat info {};
    if (::stat(folder.c_str(), &info) != 0 || !done.insert(info.st_dev).second) continue;
    TRY(disk_.whole(folder));
  }
  return {};
}

}  // namespace gantry::store
