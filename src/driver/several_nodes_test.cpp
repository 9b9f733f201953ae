// Applications of several nodes, driven to their end, continued and changed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "driver/hub_fixture.hpp"

namespace gantry::driver {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

class SeveralNodesTest : public HubTest {
 protected:
  static constexpr auto kSolve =
      "command: solve {x}\nparameters: {x: [1, 2]}\n"
      "results: {energy: 'e=(.*)'}\n";
  static constexpr auto kPlot =
      "command: plot {geometry}\nparameters: {geometry: [a, b]}\n"
      "results: {height: 'h=(.*)'}\n";

  /// Tasks 1 and 2 solve, 3 and 4 plot.
  Application study(const std::string& solve = kSolve, const std::string& plot = kPlot) {
    std::vector<Node> nodes;
    for (const auto& [name, text] : {std::pair{"solve", solve}, std::pair{"plot", plot}}) {
      auto loaded = spec::parse_sweep(text, name, dir_);
      EXPECT_TRUE(loaded) << (loaded ? "" : loaded.error().message);
      nodes.push_back({name, std::move(loaded->sweep)});
    }
    Application both = Application::build("both", std::move(nodes)).value();
    both.add_rest();
    return both;
  }

  /// With a launcher whose tasks succeed and print both values.
  Summary drive(Application study) {
    launcher_ = {};
    launcher_.outcome = [](const Task& task, AttemptReport& report) {
      report.out.text = "e=" + task.argv.back() + "\nh=" + task.argv.back() + "\n";
      report.out.size = report.out.text.size();
    };
    return drive_with(launcher_, study);
  }

  [[nodiscard]] std::vector<std::uint32_t> started() const {
    std::vector<std::uint32_t> tasks;
    for (const TaskKey& key : launcher_.started) tasks.push_back(key.task.value());
    return tasks;
  }

  FakeLauncher launcher_;
};

TEST_F(SeveralNodesTest, AreDrivenToTheEndAndContinued) {
  const auto summary = drive(study());
  EXPECT_EQ(summary.counts.done, 4U);
  EXPECT_EQ(summary.executed, 4U);
  const auto ended = rows(summary.run);
  ASSERT_EQ(ended.size(), 4U);
  EXPECT_THAT(ended[1].parameters, ElementsAre(std::pair("x", "2")));
  EXPECT_THAT(ended[1].results, ElementsAre(std::pair("energy", "2")));
  EXPECT_THAT(ended[2].parameters, ElementsAre(std::pair("geometry", "a")));
  EXPECT_THAT(ended[2].results, ElementsAre(std::pair("height", "a")));
  const auto record = open_store().run(summary.run).value().value();
  EXPECT_THAT(record.parameter_names, ElementsAre("x", "geometry"));
  EXPECT_THAT(record.result_names, ElementsAre("energy", "height"));
  ASSERT_EQ(record.batches.size(), 2U);
  EXPECT_EQ(record.batches[1].batch, (Batch{NodeId(1), 0, TaskId(3), 2}));

  const auto again = drive(study());
  EXPECT_EQ(again.run, summary.run);
  EXPECT_EQ(again.executed, 0U);
  EXPECT_EQ(again.unchanged, 4U);
}

TEST_F(SeveralNodesTest, AKilledGantryLosesNothingThatEnded) {
  RunId run;
  {  // Killed when one task of each node had ended.
    Application both = study();
    auto store = open_store();
    ContentCache contents(store);
    engine::Engine engine;
    const TaskFiles files;
    run = prepare_run(store, engine, {both, source_}, {}, options_, contents, from_ns(1), files)
              .value()
              .id;
    for (const TaskId task : {TaskId(2), TaskId(3)}) {
      AttemptEnded ended;
      ended.report.key = {run, task, AttemptId(1)};
      ended.fingerprint = contents.fingerprint(both.task(task)).value();
      ASSERT_TRUE(store.append(run, ended));
    }
    ASSERT_TRUE(store.commit());
  }
  const auto summary = drive(study());
  EXPECT_EQ(summary.run, run);
  EXPECT_EQ(summary.counts.done, 4U);
  EXPECT_THAT(started(), UnorderedElementsAre(1, 4));
}

TEST_F(SeveralNodesTest, AnotherCommandOfANodeRunsOnlyItsTasksAgain) {
  const auto first = drive(study());
  const auto changed = drive(study(kSolve,
                                   "command: draw {geometry}\nparameters: {geometry: [a, b]}\n"
                                   "results: {height: 'h=(.*)'}\n"));
  EXPECT_NE(changed.run, first.run);
  EXPECT_EQ(changed.counts.done, 4U);
  EXPECT_EQ(changed.unchanged, 2U);
  EXPECT_THAT(started(), UnorderedElementsAre(3, 4));
  EXPECT_THAT(rows(changed.run)[0].results, ElementsAre(std::pair("energy", "1")));
}

TEST_F(SeveralNodesTest, AnotherRuleOfANodeReadsItsOutputAgain) {
  drive(study());
  // The rule of the other node: the same text, but what that node has read is not this value.
  const auto changed = drive(study(kSolve,
                                   "command: plot {geometry}\nparameters: {geometry: [a, b]}\n"
                                   "results: {height: {stdout: 'e=(.*)', optional: true}}\n"));
  EXPECT_EQ(changed.executed, 0U);
  EXPECT_THAT(rows(changed.run)[0].results, ElementsAre(std::pair("energy", "1")));
  EXPECT_THAT(rows(changed.run)[3].results, ElementsAre(std::pair("height", "b")));
}

TEST_F(SeveralNodesTest, MoreValuesOfANodeAreNewTasksOfTheRun) {
  const auto first = drive(study());
  options_.reload = [&](const store::RunRecord& record) -> Result<Application> {
    Application before = study();
    EXPECT_TRUE(before.number_tasks(record.batches, record.numbering));
    return before;
  };
  const std::string more =
      "command: solve {x}\nparameters: {x: [0, 1, 2]}\nresults: {energy: 'e=(.*)'}\n";
  const auto grown = drive(study(more));
  EXPECT_EQ(grown.run, first.run);
  EXPECT_EQ(grown.counts.done, 5U);
  EXPECT_THAT(started(), ElementsAre(5));
  EXPECT_THAT(rows(first.run)[4].parameters, ElementsAre(std::pair("x", "0")));
  const auto again = drive(study(more));
  EXPECT_EQ(again.run, first.run);
  EXPECT_THAT(started(), IsEmpty());
}

TEST_F(SeveralNodesTest, MustNotWriteTheSameFile) {
  Application both = study("command: solve {x}\nparameters: {x: [1]}\noutputs: [o]\n",
                           "command: plot {x}\nparameters: {x: [1]}\noutputs: [o]\n");
  const Job job{both, source_};
  const auto apart = check_apart({&job, 1});
  ASSERT_FALSE(apart);
  EXPECT_EQ(apart.error().message,
            "task 1 of solve and task 2 of plot both write " + (dir_ / "o").string());
  EXPECT_EQ(apart.error().hint, "give each node a folder or files of its own");
}

}  // namespace
}  // namespace gantry::driver
