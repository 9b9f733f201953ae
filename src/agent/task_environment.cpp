#include "agent/task_environment.hpp"

#include <algorithm>
#include <cstring>

#include "agent/spawn.hpp"

namespace gantry::agent {

namespace {

std::string_view name_of(std::string_view entry) {
  return entry.substr(0, entry.find('='));
}

bool has_name(std::string_view entry, std::string_view name) {
  if (entry.empty() || name.empty() || entry.front() != name.front())
    return false;  // nearly always
  return entry.starts_with(name) && (entry.size() == name.size() || entry[name.size()] == '=');
}

/// The value that getenv("PATH") would find.
const char* path_in(const std::vector<char*>& envp) {
  for (const char* entry : envp) {
    if (entry != nullptr && std::strncmp(entry, "PATH=", 5) == 0) return entry + 5;
  }
  return nullptr;
}

bool has_relative_part(std::string_view path) {
  for (;;) {
    const auto colon = path.find(':');
    if (!path.starts_with('/')) return true;
    if (colon == std::string_view::npos) return false;
    path.remove_prefix(colon + 1);
  }
}

}  // namespace

std::vector<char*> TaskEnvironment::with(const std::vector<std::string>& own) {
  std::vector<char*> envp;
  envp.reserve(common_.size() + own.size() + 2);
  std::vector<std::string_view> names;
  names.reserve(own.size());
  for (const auto& entry : own) names.push_back(name_of(entry));
  for (auto& entry : common_) {
    const bool replaced =
        std::any_of(names.begin(), names.end(), [&](auto name) { return has_name(entry, name); });
    if (!replaced) envp.push_back(entry.data());
  }
  for (const auto& entry : own) envp.push_back(const_cast<char*>(entry.c_str()));
  envp.push_back(mark_.data());
  envp.push_back(nullptr);
  return envp;
}

const std::string& TaskEnvironment::find(const std::string& name, const std::vector<char*>& envp,
                                         const std::string& workdir) {
  const char* path = path_in(envp);
  const std::string_view path_text = path != nullptr ? path : "/(unset)";
  const bool same = !found_.empty() && name == found_name_ && path_text == found_path_ &&
                    (workdir == found_workdir_ || !has_relative_part(path_text));
  if (same) return found_;
  found_ = find_program(name, path, workdir);
  found_name_ = name;
  found_path_ = path_text;
  found_workdir_ = workdir;
  return found_;
}

}  // namespace gantry::agent
