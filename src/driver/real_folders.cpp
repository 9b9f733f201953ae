#include "driver/real_folders.hpp"

#include <dirent.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <utility>

namespace gantry::driver {

namespace {

/// Listing a folder costs as much as looking at some of its names.
constexpr std::uint32_t kManyLooks = 64;

std::string_view without_slashes(std::string_view path) {
  while (path.ends_with('/')) path.remove_suffix(1);
  return path;
}

}  // namespace

const std::string& RealFolders::of(std::string_view folder) {
  folder = without_slashes(folder);
  // Nothing is remembered of each of a million folders.
  const std::size_t slash = folder.rfind('/');
  if (slash != std::string_view::npos) {
    const std::string_view name = folder.substr(slash + 1);
    const auto parent = known_.find(without_slashes(folder.substr(0, slash)));
    const bool is_plain = parent != known_.end() && parent->second.links && name != "." &&
                          name != ".." && !parent->second.links->contains(name);
    if (is_plain) return path_.assign(parent->second.real).append("/").append(name);
  }
  return known(folder).real;
}

RealFolders::Folder& RealFolders::known(std::string_view folder) {
  folder = without_slashes(folder);
  const auto found = known_.find(folder);
  if (found != known_.end()) return found->second;
  // It is known as it is spelt while it is resolved: links in a circle lead here again.
  Folder& added = known_[std::string(folder)];
  added.real = folder;
  if (!folder.empty() && folder.size() < target_.size()) resolve(folder, added.real);
  return added;
}

void RealFolders::resolve(std::string_view folder, std::string& real) {
  const std::size_t slash = folder.rfind('/');
  if (slash == std::string_view::npos) return;
  const std::string_view name = folder.substr(slash + 1);
  Folder& parent = known(folder.substr(0, slash));
  if (name == ".") {
    real = parent.real;
    return;
  }
  if (name == "..") {
    real = parent.real.substr(0, parent.real.empty() ? 0 : parent.real.rfind('/'));
    return;
  }
  std::string path = parent.real + "/";
  path += name;
  if (may_be_link(parent, name)) {
    const ssize_t size = ::readlink(path.c_str(), target_.data(), target_.size());
    const std::string target(target_.data(), size > 0 ? static_cast<std::size_t>(size) : 0);
    if (!target.empty())
      path = known(target.starts_with('/') ? target : parent.real + "/" + target).real;
  }
  real = std::move(path);
}

bool RealFolders::may_be_link(Folder& folder, std::string_view name) {
  if (folder.links) return folder.links->contains(name);
  if (++folder.looks != kManyLooks) return true;
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(::opendir((folder.real + "/").c_str()),
                                                    ::closedir);
  if (!entries && errno != ENOENT) return true;  // it cannot be listed: one by one, then
  folder.links.emplace();
  const dirent* entry = nullptr;
  while (entries && (entry = ::readdir(entries.get())) != nullptr)
    if (entry->d_type == DT_LNK || entry->d_type == DT_UNKNOWN) folder.links->insert(entry->d_name);
  return folder.links->contains(name);
}

}  // namespace gantry::driver
