#include "simulate/planned_tasks.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "base/scratch_dir.hpp"
#include "model/sweep_definition.hpp"
#include "model/sweep_files.hpp"

namespace gantry::simulate {
namespace {

TEST(PlannedTasks, PlansAndRunsAgreeOnWhatTasksNeed) {
  const ScratchDir folder;
  for (const std::string name : {"a", "b", "own-1", "own-3"})
    std::ofstream(folder.path() / name) << std::string(name == "own-3" ? 300 : 7, 'x');
  SweepDefinition definition;
  definition.base_dir = folder.path().string();
  definition.command = {{.text = "true", .mark = {}}};
  definition.parameters.push_back({"x", ParameterValues::list({"b", "a", "b", "b", "a"})});
  for (const std::string input : {"{x}", "own-{#}"})
    definition.inputs.push_back({.text = input, .mark = {}});
  const Application study(Sweep::build(std::move(definition)).value());

  const auto planned = planned_tasks_of(study).value();
  const engine::Workload plan = workload_of(planned.tasks);
  FileNames names;
  const TaskFiles files(study, names);
  const engine::Workload run = engine::workload_of(study, files);
  for (std::uint32_t task = 1; task <= study.size(); ++task)
    EXPECT_EQ(plan.needs_of(TaskId(task)), run.needs_of(TaskId(task))) << task;
  EXPECT_EQ(run.needs_of(TaskId(3)), (TaskNeeds{.files = {FileId(0)}, .private_bytes = 300}));
  EXPECT_EQ(planned.file_names, (std::vector<std::string>{"b", "a"}));
}

}  // namespace
}  // namespace gantry::simulate
