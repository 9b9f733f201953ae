#include "actuate/launch/sandbox.hpp"

#include <fmt/format.h>

#include <filesystem>

namespace gantry {

namespace {

/// Nothing to be made normal; most paths are like that.
bool is_plain(std::string_view path) {
  return path.starts_with('/') && !path.ends_with('/') &&
         path.find("//") == std::string_view::npos && path.find("/.") == std::string_view::npos;
}

}  // namespace

std::optional<std::string> Sandbox::relative(const std::string& path) const {
  if (is_plain(path) && is_plain(base_)) {
    if (!path.starts_with(base_)) return std::nullopt;
    if (path.size() == base_.size()) return std::string();
    if (path[base_.size()] != '/') return std::nullopt;
    return path.substr(base_.size() + 1);
  }
  const auto below = std::filesystem::path(path).lexically_normal().lexically_relative(base_);
  if (below.empty() || *below.begin() == "..") return std::nullopt;
  return below == "." ? std::string() : below.string();
}

std::string Sandbox::there(const std::string& path) const {
  const auto below = relative(path);
  if (!below) return path;
  return below->empty() ? folder_ : folder_ + "/" + *below;
}

std::string Sandbox::as_here(std::string text) const {
  for (auto at = text.find(folder_); at != std::string::npos; at = text.find(folder_, at + 1))
    text.replace(at, folder_.size(), base_);
  return text;
}

std::optional<std::string> Sandbox::move_into(agent::Start& start,
                                              const std::vector<TaskFile>& files) const {
  if (!relative(start.workdir))
    return fmt::format("its folder {} is not below {}, so that it can only run at home",
                       start.workdir, base_);
  for (const auto& output : start.outputs)
    if (!relative(output))
      return fmt::format("its output {} is not below {}, so that it can only run at home", output,
                         base_);
  start.sandbox = folder_;
  start.workdir = there(start.workdir);
  start.make_workdir = true;
  for (auto* list : {&start.outputs, &start.collect, &start.only_read, &start.keep})
    for (auto& path : *list) path = there(path);
  for (auto& word : start.argv)
    if (word.starts_with('/')) word = there(word);
  for (const auto& file : files)
    if (auto below = relative(file.path); below && !below->empty())
      start.inputs.push_back({std::move(*below), file.content.hex(), file.executable});
  return std::nullopt;
}

}  // namespace gantry
