#include "agent/task_files.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>

#include "base/fd.hpp"

namespace gantry::agent {

namespace {

using Problem = std::optional<std::pair<int, std::string>>;

Problem make_directory(const std::filesystem::path& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (!error) return std::nullopt;
  return std::pair(error.value(), "cannot make the directory " + path.string());
}

Problem clear_output(const std::string& output) {
  if (::unlink(output.c_str()) == 0) return std::nullopt;
  const int error = errno;
  if (error == ENOENT) return make_directory(std::filesystem::path(output).parent_path());
  struct stat info {};
  if (::lstat(output.c_str(), &info) == 0 && S_ISDIR(info.st_mode))
    return std::nullopt;  // a directory stays: it may hold more
  return std::pair(error, "cannot remove the old output " + output);
}

}  // namespace

Problem prepare_files(const Start& start) {
  if (start.make_workdir) {
    if (auto problem = make_directory(start.workdir)) return problem;
  }
  for (const auto* list : {&start.outputs, &start.collect}) {
    for (const auto& output : *list) {
      if (auto problem = clear_output(output)) return problem;
    }
  }
  return std::nullopt;
}

std::optional<std::string> missing_output(const Start& start) {
  for (const auto& output : start.outputs) {
    struct stat info {};
    if (::stat(output.c_str(), &info) != 0) return output;
  }
  return std::nullopt;
}

std::vector<std::pair<std::string, std::string>> collect_files(const Start& start) {
  std::vector<std::pair<std::string, std::string>> out;
  std::size_t room = kMaxCollectedTogether;
  for (const auto& path : start.collect) {
    struct stat info {};
    // Only a plain file: opening a pipe or a device that the task made could block for ever.
    if (::stat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) continue;
    auto content = read_file(path, std::min(kMaxCollected, room));
    if (!content) continue;
    room -= content->size();
    out.emplace_back(path, std::move(*content));
  }
  return out;
}

}  // namespace gantry::agent
