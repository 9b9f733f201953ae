#include "model/sweep_inputs.hpp"

#include <filesystem>
#include <system_error>
#include <unordered_map>

namespace gantry {

std::vector<std::string> shared_inputs(const Sweep& sweep) {
  struct Readers {
    TaskId first;
    bool several = false;
  };
  std::unordered_map<std::string, Readers> readers;
  std::vector<const std::string*> by_first_use;
  Task task;
  for (std::uint32_t i = 1; i <= sweep.size(); ++i) {
    sweep.fill_task(TaskId(i), task);
    for (const std::string& path : task.inputs) {
      const auto [known, is_new] = readers.try_emplace(path, Readers{TaskId(i)});
      if (is_new) by_first_use.push_back(&known->first);
      if (known->second.first != TaskId(i)) known->second.several = true;
    }
  }
  std::vector<std::string> shared;
  for (const std::string* path : by_first_use)
    if (readers.at(*path).several) shared.push_back(*path);
  return shared;
}

double bytes_on_disk(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (!fs::is_directory(path, error)) {
    const auto bytes = fs::file_size(path, error);
    return error ? 0 : static_cast<double>(bytes);
  }
  double sum = 0;
  constexpr auto kOptions = fs::directory_options::skip_permission_denied;
  for (fs::recursive_directory_iterator at(path, kOptions, error), end; !error && at != end;
       at.increment(error)) {
    std::error_code gone;  // meanwhile
    const auto bytes = at->is_regular_file(gone) ? at->file_size(gone) : 0;
    if (!gone) sum += static_cast<double>(bytes);
  }
  return sum;
}

}  // namespace gantry
