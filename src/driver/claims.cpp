#include "driver/claims.hpp"

namespace gantry::driver {

const std::vector<Claim>& Claims::of(const Task& task) {
  claims_.clear();
  hasher_.reset();
  for (const auto& word : task.argv) hasher_.add(word);
  claims_.push_back({hasher_.add(folders_.of(task.workdir)).digest(), nullptr});
  for (const auto& path : task.outputs) add_file(path);
  for (const auto& path : task.collect)
    if (!only_reads(task, path)) add_file(path);
  return claims_;
}

/// The file itself is not looked at: there may be a million.
void Claims::add_file(const std::string& path) {
  std::string_view folder(path);
  while (folder.ends_with('/')) folder.remove_suffix(1);
  const std::size_t slash = folder.rfind('/');
  std::string_view name = slash == std::string_view::npos ? folder : folder.substr(slash + 1);
  hasher_.reset();
  if (slash == std::string_view::npos || name == "." || name == "..") {
    const std::string& real = folders_.of(folder);
    const std::size_t last = real.rfind('/');
    const std::size_t begin = last == std::string::npos ? 0 : last;
    folder = std::string_view(real).substr(0, begin);
    name = std::string_view(real).substr(real.empty() ? 0 : begin + 1);
  } else {
    folder = folders_.of(folder.substr(0, slash));
  }
  claims_.push_back({hasher_.add(folder).add(name).digest(), &path});
}

}  // namespace gantry::driver
