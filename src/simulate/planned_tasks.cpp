#include "simulate/planned_tasks.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <set>
#include <utility>

#include "model/sweep_files.hpp"
#include "simulate/svg_text.hpp"

namespace gantry::simulate {

Result<PlannedTasks> planned_tasks_of(const Application& application,
                                      const std::function<double(TaskId)>& cost_of) {
  if (application.size() > kMaxPlannedTasks)
    return fail(ErrorCode::usage,
                fmt::format("{} tasks are too many to plan; the most is {}",
                            count_text(application.size()), count_text(kMaxPlannedTasks)),
                "plan a part of the study: fewer values of one parameter");
  PlannedTasks result;
  FileNames names;
  const TaskFiles files(application, names);
  for (const FileMade& file : files.shared()) {
    const std::filesystem::path path = names.path(file.file);
    result.file_names.push_back(path.filename().string());
    result.file_paths.push_back(path.lexically_normal().string());
    result.tasks.file_bytes.push_back(file.bytes);
  }
  std::set<std::pair<std::uint32_t, std::uint64_t>> different_needs;
  std::vector<double> costs;
  for (TaskId id(1); id.value() <= application.size(); id = TaskId(id.value() + 1)) {
    const Resources resources = application.at(id).resources(id);
    if (different_needs.emplace(resources.cores, resources.memory).second)
      result.needs.push_back({resources, id});
    costs.push_back(cost_of && !application.has_cost() ? cost_of(id) : application.cost(id));
  }
  result.rounded = round_if_many(costs, kMaxDifferentCosts);
  for (TaskId id(1); id.value() <= application.size(); id = TaskId(id.value() + 1)) {
    SimulatedTasks::Task& task = result.tasks.tasks.emplace_back();
    task.cost = costs[id.value() - 1];
    if (files.empty()) continue;
    task.files = files.shared_by(id);
    task.private_bytes = files.private_bytes(id);
  }
  return result;
}

}  // namespace gantry::simulate
