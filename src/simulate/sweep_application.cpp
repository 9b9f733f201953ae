#include "simulate/sweep_application.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "model/sweep_inputs.hpp"
#include "simulate/svg_text.hpp"

namespace gantry::simulate {

namespace {

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
  std::unordered_map<std::string, FileId> shared;
  for (const std::string& path : shared_inputs(sweep)) {
    shared.emplace(path, FileId(static_cast<std::uint32_t>(result.file_names.size())));
    result.file_names.push_back(std::filesystem::path(path).filename().string());
    result.file_paths.push_back(std::filesystem::absolute(path).lexically_normal().string());
    result.application.file_bytes.push_back(bytes_on_disk(path));
  }
  std::set<std::pair<std::uint32_t, std::uint64_t>> different_needs;
  Task task;
  for (std::uint32_t i = 1; i <= sweep.size(); ++i) {
    sweep.fill_task(TaskId(i), task);
    if (different_needs.emplace(task.resources.cores, task.resources.memory).second)
      result.needs.push_back({task.resources, TaskId(i)});
    Application::Task& made = result.application.tasks.emplace_back();
    made.cost = cost_of && !sweep.has_cost() ? cost_of(TaskId(i)) : sweep.cost(TaskId(i));
    std::ranges::sort(task.inputs);
    task.inputs.erase(std::unique(task.inputs.begin(), task.inputs.end()), task.inputs.end());
    for (const std::string& path : task.inputs) {
      if (const auto known = shared.find(path); known != shared.end())
        made.files.push_back(known->second);
      else
        made.private_bytes += bytes_on_disk(path);
    }
    std::ranges::sort(made.files);
  }
  result.rounded = round_costs(result.application.tasks);
  return result;
}

}  // namespace gantry::simulate
