#include "agent/task_files.hpp"

#include <sys/stat.h>
#include <time.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>

#include "base/fd.hpp"
#include "base/time.hpp"

namespace gantry::agent {

namespace {

using Problem = std::optional<std::pair<int, std::string>>;

Problem make_directory(const std::filesystem::path& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (!error) return std::nullopt;
  return std::pair(error.value(), "cannot make the directory " + path.string());
}

/// Of a plain file; nothing can be said of others.
std::optional<FileStamp> stamp_of(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return std::nullopt;
  return FileStamp{info.st_dev, info.st_ino, info.st_size, to_ns(info.st_ctim)};
}

bool was_not_written(const std::string& path, const OldFiles& old) {
  const auto before = old.find(path);
  return before != old.end() && stamp_of(path) == before->second;
}

}  // namespace

Problem prepare_files(const Start& start, OldFiles& old) {
  old.clear();
  if (start.make_workdir) {
    if (auto problem = make_directory(start.workdir)) return problem;
  }
  if (start.outputs.empty() && start.collect.empty()) return std::nullopt;
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  for (const auto* list : {&start.outputs, &start.collect}) {
    for (const auto& output : *list) {
      const auto stamp = stamp_of(output);
      if (!stamp) {
        if (auto problem = make_directory(std::filesystem::path(output).parent_path()))
          return problem;
      } else if (to_ns(now) - stamp->changed_ns > kStampLag.count()) {
        old.emplace(output, *stamp);
      }
    }
  }
  for (const auto& input : start.only_read)
    if (std::ranges::find(start.outputs, input) == start.outputs.end()) old.erase(input);
  return std::nullopt;
}

std::optional<std::string> missing_output(const Start& start, const OldFiles& old) {
  for (const auto& output : start.outputs) {
    struct stat info {};
    if (::stat(output.c_str(), &info) != 0) return output;
  }
  for (const auto* list : {&start.outputs, &start.collect}) {
    for (const auto& output : *list) {
      if (was_not_written(output, old))
        return output + " was there before and the task did not write it";
    }
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
