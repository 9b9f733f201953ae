#include "engine/run/workload.hpp"

#include <gtest/gtest.h>

#include "model/sweep_definition.hpp"

namespace gantry::engine {
namespace {

TEST(Workload, SaysOfASweepWhatTheEngineNeeds) {
  SweepDefinition definition;
  definition.base_dir = "/tmp";
  definition.command = {{.text = "true", .mark = {}}};
  definition.parameters.push_back({"x", ParameterValues::list({"a", "b", "c"})});
  definition.resources = {.cores = 2, .memory = 1 << 20};
  definition.retry.retries = 4;
  const Application application(Sweep::build(std::move(definition)).value());

  const Workload workload = workload_of(application);
  EXPECT_EQ(workload.count, 3U);
  EXPECT_EQ(workload.resources_of(TaskId(3)).cores, 2U);
  EXPECT_EQ(workload.retry.retries, 4U);
  EXPECT_DOUBLE_EQ(workload.cost_of(TaskId(1)), 1.0);
  EXPECT_FALSE(workload.cost);  // no costs given: nothing to calculate a million times
}

TEST(Workload, FeaturesAreTheParametersNumbersAndWords) {
  SweepDefinition definition;
  definition.base_dir = "/tmp";
  definition.command = {{.text = "true", .mark = {}}};
  definition.parameters.push_back({"how", ParameterValues::list({"fast", "well"})});
  definition.parameters.push_back({"n", ParameterValues::list({"8", "1e3"})});
  const Application application(Sweep::build(std::move(definition)).value());

  const Workload workload = workload_of(application);
  EXPECT_EQ(workload.features(TaskId(1)), (forecast::Features{"fast", 8.0}));
  EXPECT_EQ(workload.features(TaskId(4)), (forecast::Features{"well", 1000.0}));
}

TEST(Workload, TasksOfSeveralNodesAreToldApart) {
  SweepDefinition solve;
  solve.base_dir = "/tmp";
  solve.command = {{.text = "solve", .mark = {}}};
  solve.parameters.push_back({"n", ParameterValues::list({"8"})});
  solve.retry.retries = 4;
  solve.cost = SourceText{.text = "n", .mark = {}};
  SweepDefinition plot;
  plot.base_dir = "/tmp";
  plot.command = {{.text = "plot", .mark = {}}};
  plot.parameters.push_back({"how", ParameterValues::list({"fast", "well"})});
  plot.resources.cores = 2;
  std::vector<Node> nodes;
  nodes.push_back({"solve", Sweep::build(std::move(solve)).value()});
  nodes.push_back({"plot", Sweep::build(std::move(plot)).value()});
  Application both = Application::build("both", std::move(nodes)).value();
  both.add_rest();

  const Workload workload = workload_of(both);
  EXPECT_EQ(workload.count, 3U);
  EXPECT_EQ(workload.features(TaskId(1)), (forecast::Features{"solve", 8.0, 0.0}));
  EXPECT_EQ(workload.features(TaskId(3)), (forecast::Features{"plot", 0.0, "well"}));
  EXPECT_EQ(workload.resources_of(TaskId(1)).cores, 1U);
  EXPECT_EQ(workload.resources_of(TaskId(3)).cores, 2U);
  EXPECT_EQ(workload.retry_of(TaskId(1)).retries, 4U);
  EXPECT_EQ(workload.retry_of(TaskId(2)).retries, 0U);
  EXPECT_FALSE(workload.cost) << "only one node gives its costs";
}

TEST(Workload, UnplaceableSaysWhichResourceIsShort) {
  const std::vector<Host> hosts{{HostId(1), "a", 8, 1ULL << 30}, {HostId(2), "b", 1, 8ULL << 30}};
  EXPECT_EQ(unplaceable(TaskId(2), {.cores = 1, .memory = 3ULL << 31}, hosts), "");
  EXPECT_EQ(unplaceable(TaskId(2), {.cores = 9}, hosts),
            "task 2 needs 9 cores, the largest host has 8");
  EXPECT_EQ(unplaceable(TaskId(2), {.cores = 1, .memory = 16ULL << 30}, hosts),
            "task 2 needs 16 GiB of memory, the largest host has 8 GiB");
  EXPECT_EQ(unplaceable(TaskId(2), {.cores = 2, .memory = 2ULL << 30}, hosts),
            "task 2 needs 2 cores and 2 GiB of memory, no host has both");
}

TEST(Workload, UnplaceableSaysWhatABatchSystemSaid) {
  std::vector<Host> hosts{{HostId(1), "c1-jobs", 100, 1ULL << 60}, {HostId(2), "b", 1, 0}};
  hosts[0].refusals = {{4, 0, "no such node"}};
  EXPECT_EQ(unplaceable(TaskId(2), {.cores = 3}, hosts), "");
  EXPECT_EQ(unplaceable(TaskId(2), {.cores = 5}, hosts),
            "task 2 cannot run on c1-jobs: no such node");
}

}  // namespace
}  // namespace gantry::engine
