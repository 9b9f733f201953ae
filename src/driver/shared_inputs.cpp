#include "driver/shared_inputs.hpp"

#include <algorithm>

#include "model/sweep_inputs.hpp"

namespace gantry::driver {

FileId FileNames::number(const std::string& path) {
  const auto [known, is_new] =
      ids_.try_emplace(path, FileId(static_cast<std::uint32_t>(paths_.size())));
  if (is_new) paths_.push_back(path);
  return known->second;
}

SharedInputs::SharedInputs(const Sweep& sweep, FileNames& names) {
  for (const auto& path : shared_inputs(sweep)) ids_.emplace(path, names.number(path));
}

std::vector<FileMade> SharedInputs::made() const {
  std::vector<FileMade> files;
  for (const auto& [path, id] : ids_) files.push_back({id, kHome, bytes_on_disk(path)});
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
