#include "simulate/sweep_application.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>
#include <system_error>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "simulate/svg_text.hpp"

namespace gantry::simulate {

namespace {

double bytes_on_disk(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (!fs::is_directory(path, error)) {
    const auto bytes = fs::file_size(path, error);
    return error ? 0 : static_cast<double>(bytes);
  }
  double sum = 0;
  auto entry =
      fs::recursive_directory_iterator(path, fs::directory_options::skip_permission_denied, error);
  for (; !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
    std::error_code ignored;  // gone meanwhile
    if (!entry->is_regular_file(ignored)) continue;
    const auto bytes = entry->file_size(ignored);
    if (!ignored) sum += static_cast<double>(bytes);
  }
  return sum;
}

/// The inputs of all tasks, each once, numbered by their first use.
class InputTable {
 public:
  std::uint32_t number(const std::string& path) {
    const auto [known, is_new] =
        numbers_.try_emplace(path, static_cast<std::uint32_t>(inputs_.size()));
    if (is_new) inputs_.push_back({path, bytes_on_disk(path)});
    return known->second;
  }
  void add_reader(std::uint32_t number) { ++inputs_[number].readers; }

  struct Input {
    std::string path;
    double bytes = 0;
    std::uint32_t readers = 0;
    FileId file{};  ///< when shared
  };
  std::vector<Input>& inputs() { return inputs_; }

 private:
  std::unordered_map<std::string, std::uint32_t> numbers_;
  std::vector<Input> inputs_;
};

/// True when it was done.
bool round_costs(std::vector<Application::Task>& tasks) {
  std::unordered_set<double> different;
  for (const Application::Task& task : tasks) {
    different.insert(task.cost);
    if (different.size() > kMaxDifferentCosts) break;
  }
  if (different.size() <= kMaxDifferentCosts) return false;
  const double step = std::log(1.05);
  for (Application::Task& task : tasks)
    task.cost = std::exp(std::round(std::log(task.cost) / step) * step);
  return true;
}

}  // namespace

Result<SweepApplication> application_of(const Sweep& sweep,
                                        const std::function<double(TaskId)>& cost_of) {
  if (sweep.size() > kMaxApplicationTasks)
    return fail(ErrorCode::usage,
                fmt::format("{} tasks are too many to plan; the most is {}",
                            count_text(sweep.size()), count_text(kMaxApplicationTasks)),
                "plan a part of the study: fewer values of one parameter");
  SweepApplication result;
  InputTable table;
  std::set<std::pair<std::uint32_t, std::uint64_t>> different_needs;
  std::vector<std::vector<std::uint32_t>> read(sweep.size());
  Task task;
  for (std::uint32_t i = 0; i < sweep.size(); ++i) {
    sweep.fill_task(TaskId(i + 1), task);
    for (const std::string& path : task.inputs) read[i].push_back(table.number(path));
    std::ranges::sort(read[i]);
    read[i].erase(std::unique(read[i].begin(), read[i].end()), read[i].end());
    for (const std::uint32_t number : read[i]) table.add_reader(number);
    if (different_needs.emplace(task.resources.cores, task.resources.memory).second)
      result.needs.push_back({task.resources, TaskId(i + 1)});
  }
  for (auto& input : table.inputs()) {
    if (input.readers < 2) continue;
    input.file = FileId(static_cast<std::uint32_t>(result.file_names.size()));
    result.file_names.push_back(std::filesystem::path(input.path).filename().string());
    result.file_paths.push_back(std::filesystem::absolute(input.path).lexically_normal().string());
    result.application.file_bytes.push_back(input.bytes);
  }
  result.application.tasks.resize(sweep.size());
  for (std::uint32_t i = 0; i < sweep.size(); ++i) {
    Application::Task& made = result.application.tasks[i];
    made.cost = cost_of && !sweep.has_cost() ? cost_of(TaskId(i + 1)) : sweep.cost(TaskId(i + 1));
    for (const std::uint32_t number : read[i]) {
      const auto& input = table.inputs()[number];
      if (input.readers > 1)
        made.files.push_back(input.file);
      else
        made.private_bytes += input.bytes;
    }
  }
  result.rounded = round_costs(result.application.tasks);
  return result;
}

}  // namespace gantry::simulate
