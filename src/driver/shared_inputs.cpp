#include "driver/shared_inputs.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>

namespace gantry::driver {

namespace {

namespace fs = std::filesystem;

double bytes_of(const std::string& path) {
  std::error_code error;
  if (!fs::is_directory(path, error)) {
    const auto bytes = fs::file_size(path, error);
    return error ? 0 : static_cast<double>(bytes);
  }
  double sum = 0;
  for (fs::recursive_directory_iterator at(path, error), end; !error && at != end;
       at.increment(error)) {
    std::error_code gone;
    const auto bytes = at->is_regular_file(gone) ? at->file_size(gone) : 0;
    if (!gone) sum += static_cast<double>(bytes);
  }
  return sum;
}

}  // namespace

FileId FileNames::number(const std::string& path) {
  const auto [known, is_new] =
      ids_.try_emplace(path, FileId(static_cast<std::uint32_t>(paths_.size())));
  if (is_new) paths_.push_back(path);
  return known->second;
}

SharedInputs::SharedInputs(const Sweep& sweep, FileNames& names) {
  std::unordered_map<std::string, std::uint32_t> readers;
  Task task;
  for (std::uint32_t i = 1; i <= sweep.size(); ++i) {
    sweep.fill_task(TaskId(i), task);
    for (const auto& path : task.inputs)
      if (++readers[path] == 2) ids_.emplace(path, names.number(path));
  }
}

std::vector<FileMade> SharedInputs::made() const {
  std::vector<FileMade> files;
  for (const auto& [path, id] : ids_) files.push_back({id, kHome, bytes_of(path)});
  std::ranges::sort(files, {}, &FileMade::file);
  return files;
}

std::vector<FileId> SharedInputs::read_by(const Task& task) const {
  std::vector<FileId> files;
  for (const auto& path : task.inputs)
    if (const auto found = ids_.find(path); found != ids_.end()) files.push_back(found->second);
  std::ranges::sort(files);
  files.erase(std::unique(files.begin(), files.end()), files.end());
  return files;
}

void SharedInputs::describe(engine::Workload& workload, const Sweep& sweep) const {
  if (ids_.empty()) return;
  workload.files = [this, &sweep](TaskId task) { return read_by(sweep.task(task)); };
}

}  // namespace gantry::driver
