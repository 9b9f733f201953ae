#pragma once
/// Lists folders, and removes them whatever a task has done to them.

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <string>
#include <string_view>

#include "base/fd.hpp"
#include "base/result.hpp"

namespace gantry::depot {

struct CloseDir {
  void operator()(DIR* dir) const { ::closedir(dir); }
};
using OpenDir = std::unique_ptr<DIR, CloseDir>;

/// Null (and errno) when it cannot be read; never follows a link.
OpenDir open_dir(int parent, const char* name);

/// Calls visit(descriptor of the folder, name) for what is in it but "." and "..". A folder that is
/// not there is empty.
template <class Visit>
Result<> for_each_entry(int parent, const char* name, const Visit& visit) {
  const OpenDir dir = open_dir(parent, name);
  if (!dir && errno == ENOENT) return {};
  if (!dir) return fail_errno(name);
  while (const dirent* entry = ::readdir(dir.get())) {
    const std::string_view found = entry->d_name;
    if (found != "." && found != "..") visit(::dirfd(dir.get()), entry->d_name);
  }
  return {};
}

/// Removes the file or folder `name` in `parent` and all below it: follows no link, needs few
/// descriptors however deep it is, and opens folders that were made read-only. No error when it is
/// not there.
Result<> remove_tree(int parent, const std::string& name);

}  // namespace gantry::depot
