#include "depot/folder_tools.hpp"

#include <sys/stat.h>

#include <utility>
#include <vector>

namespace gantry::depot {

namespace {

/// Opens a folder that is to go, whatever its permissions are. By its descriptor: by its name, what
/// is made writable might be what a link points to.
OpenDir open_to_empty(int parent, const char* name) {
  const UniqueFd path(::openat(parent, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat info {};
  if (!path || ::fstat(path.get(), &info) != 0) return nullptr;
  if ((info.st_mode & S_IRWXU) != S_IRWXU)
    ::chmod(("/proc/self/fd/" + std::to_string(path.get())).c_str(), S_IRWXU);
  return open_dir(path.get(), ".");
}

/// Empties the folders below a root. One that lies too deep is first moved up to the root, so that
/// no tree needs more descriptors than this.
class Emptier {
 public:
  explicit Emptier(int root) : root_(root) {}

  Result<> empty(int folder, unsigned depth) {
    std::vector<std::string> names;  // removing while reading may skip some
    TRY(for_each_entry(folder, ".", [&](int, const char* name) { names.emplace_back(name); }));
    for (const auto& name : names) TRY(remove(folder, name, depth));
    return {};
  }
  [[nodiscard]] bool moved_some() { return std::exchange(moved_some_, false); }

 private:
  static constexpr unsigned kDeepest = 64;

  Result<> remove(int folder, const std::string& name, unsigned depth) {
    if (::unlinkat(folder, name.c_str(), 0) == 0 || errno == ENOENT) return {};
    if (errno != EISDIR && errno != EPERM && errno != EACCES) return fail_errno(name);
    if (::unlinkat(folder, name.c_str(), AT_REMOVEDIR) == 0 || errno == ENOENT) return {};
    if (errno == ENOTDIR) return fail(ErrorCode::io, name + ": Permission denied");
    OpenDir inner = open_to_empty(folder, name.c_str());
    if (!inner) return fail_errno(name);
    if (depth == kDeepest) return move_up(folder, name);
    TRY(empty(::dirfd(inner.get()), depth + 1));
    inner.reset();
    if (::unlinkat(folder, name.c_str(), AT_REMOVEDIR) != 0 && errno != ENOENT)
      return fail_errno(name);
    return {};
  }

  Result<> move_up(int folder, const std::string& name) {
    const std::string there = ".deep-" + std::to_string(++moved_);
    if (::renameat(folder, name.c_str(), root_, there.c_str()) != 0) return fail_errno(name);
    moved_some_ = true;
    return {};
  }

  int root_;
  unsigned moved_ = 0;
  bool moved_some_ = false;
};

}  // namespace

OpenDir open_dir(int parent, const char* name) {
  constexpr int kFlags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
  const int fd = ::openat(parent, name, kFlags);
  return OpenDir(fd < 0 ? nullptr : ::fdopendir(fd));
}

Result<> remove_tree(int parent, const std::string& name) {
  if (::unlinkat(parent, name.c_str(), 0) == 0 || errno == ENOENT) return {};
  OpenDir root = open_to_empty(parent, name.c_str());
  if (!root) return fail_errno(name);
  Emptier emptier(::dirfd(root.get()));
  do TRY(emptier.empty(::dirfd(root.get()), 0));
  while (emptier.moved_some());
  root.reset();
  if (::unlinkat(parent, name.c_str(), AT_REMOVEDIR) != 0 && errno != ENOENT)
    return fail_errno(name);
  return {};
}

}  // namespace gantry::depot
