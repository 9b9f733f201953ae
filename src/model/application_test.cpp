#include "model/application.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/sweep_fixture.hpp"

namespace gantry {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Application study_of(Texts a, Texts b) {
  return Application(sweep_of(std::move(a), std::move(b)));
}

/// Another command, and a parameter and a result that the other node lacks.
SweepDefinition plot_definition(Texts values) {
  SweepDefinition result;
  result.name = "plot";
  result.base_dir = "/base";
  result.command = {{"plot {b} {c} {#}", {}, false}};
  result.parameters.push_back({"b", ParameterValues::list({"1"})});
  result.parameters.push_back({"c", ParameterValues::list(std::move(values))});
  result.results.push_back({.name = "height", .pattern = {"h=(.*)", {}, false}});
  result.inputs = {{"in-{c}", {}, false}};
  result.resources.cores = 4;
  result.cost = SourceText{"3", {}, false};
  return result;
}

/// Without tasks.
Application two_nodes(Texts first, Texts second) {
  std::vector<Node> nodes;
  nodes.push_back({"solve", sweep_of(std::move(first), {"1"})});
  nodes.push_back({"plot", Sweep::build(plot_definition(std::move(second))).value()});
  return Application::build("both", std::move(nodes)).value();
}

std::vector<AddedBatch> journal_of(const Application& application) {
  std::vector<AddedBatch> journal;
  for (std::size_t i = 0; i < application.batches().size(); ++i)
    journal.push_back({application.batches()[i], application.points(i)});
  return journal;
}

TEST(Application, OfOneSweepIsThatSweep) {
  const Sweep sweep = sweep_of({"x", "y"}, {"1", "2"});
  const Application application = study_of({"x", "y"}, {"1", "2"});
  EXPECT_EQ(application.name(), sweep.name());
  EXPECT_EQ(application.digest(), sweep.digest());
  EXPECT_EQ(application.study_digest(), sweep.study_digest());
  EXPECT_EQ(application.program_digest(), sweep.program_digest());
  ASSERT_EQ(application.size(), sweep.size());
  for (TaskId id(1); id.value() <= sweep.size(); id = TaskId(id.value() + 1)) {
    EXPECT_EQ(application.task(id).argv, sweep.task(id).argv);
    EXPECT_EQ(application.parameters(id), sweep.parameters(id));
  }
  EXPECT_THAT(application.batches(), ElementsAre(Batch{NodeId(0), 0, TaskId(1), 4}));
  EXPECT_EQ(application.points(0), (EnumeratedPoints{sweep.digest(), {{0, 4}}}));
  EXPECT_THAT(application.numbering(), IsEmpty());
}

TEST(Application, TasksOfAllNodesAreNumberedInTurn) {
  Application both = two_nodes({"x", "y"}, {"8", "9"});
  EXPECT_EQ(both.size(), 0U);
  both.add_rest();
  EXPECT_THAT(commands_of(both), ElementsAre("e x 1 1", "e y 1 2", "plot 1 8 3", "plot 1 9 4"));
  EXPECT_THAT(both.batches(),
              ElementsAre(Batch{NodeId(0), 0, TaskId(1), 2}, Batch{NodeId(1), 0, TaskId(3), 2}));
  EXPECT_EQ(both.node_of(TaskId(2)), NodeId(0));
  EXPECT_EQ(both.node_of(TaskId(3)), NodeId(1));
  EXPECT_EQ(both.task(TaskId(4)).id, TaskId(4));
  EXPECT_THAT(both.parameters(TaskId(4)), ElementsAre(Binding{"b", "1"}, Binding{"c", "9"}));
  EXPECT_EQ(both.at(TaskId(1)).resources(TaskId(1)).cores, 1U);
  EXPECT_EQ(both.at(TaskId(3)).resources(TaskId(3)).cores, 4U);
  std::vector<std::string> inputs;
  both.at(TaskId(4)).fill_inputs(TaskId(4), inputs);
  EXPECT_THAT(inputs, ElementsAre("/base/in-9"));
  EXPECT_THAT(both.parameter_names(), ElementsAre("a", "b", "c"));
  EXPECT_THAT(both.result_names(), ElementsAre("height"));
  both.add_rest();
  EXPECT_EQ(both.size(), 4U) << "there is none left";
}

TEST(Application, EachTaskIsReadByTheRulesOfItsNode) {
  Application both = two_nodes({"x", "y"}, {"8", "9"});
  both.add_rest();
  AttemptReport report;
  report.key.task = TaskId(4);
  EXPECT_THAT(both.at(TaskId(4)).extract(report, "h=7").value(),
              ElementsAre(Binding{"height", "7"}));
  report.key.task = TaskId(1);
  EXPECT_THAT(both.at(TaskId(1)).extract(report, "h=7").value(), IsEmpty());
  EXPECT_FALSE(both.at(TaskId(4)).extract(report, "h=7")) << "that is no task of this node";
}

TEST(Application, CostsCountIfEveryNodeGivesThem) {
  Application both = two_nodes({"x"}, {"8"});
  both.add_rest();
  EXPECT_FALSE(both.has_cost());
  EXPECT_DOUBLE_EQ(both.cost(TaskId(2)), 1);
  const Application plot(Sweep::build(plot_definition({"8"})).value());
  EXPECT_TRUE(plot.has_cost());
  EXPECT_DOUBLE_EQ(plot.cost(TaskId(1)), 3);
}

TEST(Application, BatchesFollowInAnyOrderOfNodes) {
  Application both = two_nodes({"x", "y"}, {"8", "9"});
  EXPECT_EQ(both.add(NodeId(1), {{1, 1}}), (Batch{NodeId(1), 0, TaskId(1), 1}));
  EXPECT_EQ(both.add(NodeId(0), {{1, 1}, {0, 1}}), (Batch{NodeId(0), 0, TaskId(2), 2}));
  EXPECT_EQ(both.add(NodeId(1), {{0, 1}}), (Batch{NodeId(1), 0, TaskId(4), 1}));
  EXPECT_THAT(commands_of(both), ElementsAre("plot 1 9 1", "e y 1 2", "e x 1 3", "plot 1 8 4"));
  // A loop has the same points again.
  EXPECT_EQ(both.add(NodeId(0), {{0, 2}}, 1), (Batch{NodeId(0), 1, TaskId(5), 2}));
  EXPECT_EQ(both.task(TaskId(6)).argv.front(), "e y 1 6");
  EXPECT_EQ(both.task(TaskId(2)).argv.front(), "e y 1 2");
  Application again = two_nodes({"x", "y"}, {"8", "9"});
  ASSERT_TRUE(again.number_tasks(journal_of(both), {}));
  EXPECT_EQ(commands_of(again), commands_of(both));
}

TEST(Application, PointsThatDoNotExistAreRefused) {
  Application both = two_nodes({"x", "y"}, {"8", "9"});
  EXPECT_FALSE(both.add(NodeId(2), {{0, 1}}));
  EXPECT_FALSE(both.add(NodeId(0), {{2, 1}}));
  EXPECT_FALSE(both.add(NodeId(0), {{1, 4'294'967'295}}));
  EXPECT_EQ(both.size(), 0U);
}

TEST(Application, NodesNeedNamesOfTheirOwn) {
  std::vector<Node> nodes;
  nodes.push_back({"n", sweep_of({"x"}, {"1"})});
  nodes.push_back({"n", sweep_of({"y"}, {"1"})});
  EXPECT_EQ(Application::build("both", std::move(nodes)).error().message,
            "two nodes are called 'n'");
  EXPECT_FALSE(Application::build("none", {}));
}

TEST(Application, DigestsTellOfEveryNode) {
  const Application one = two_nodes({"x"}, {"8"});
  EXPECT_EQ(one.digest(), two_nodes({"x"}, {"8"}).digest());
  EXPECT_NE(one.digest(), two_nodes({"x"}, {"9"}).digest());
  EXPECT_NE(one.digest(), two_nodes({"y"}, {"8"}).digest());
  EXPECT_EQ(one.study_digest(), two_nodes({"y"}, {"9"}).study_digest());
}

TEST(ApplicationNumbers, MoreValuesOfTheSlowestParameterAreEnumeratedLast) {
  Application now = study_of({"x", "y", "z"}, {"1", "2"});
  ASSERT_TRUE(now.continue_tasks_of(study_of({"x", "y"}, {"1", "2"})));
  EXPECT_THAT(now.numbering(), IsEmpty());
  EXPECT_THAT(now.batches(),
              ElementsAre(Batch{NodeId(0), 0, TaskId(1), 4}, Batch{NodeId(0), 0, TaskId(5), 2}));
}

TEST(ApplicationNumbers, ExistingTasksKeepTheirsWhereverValuesAreInserted) {
  Application now = study_of({"w", "x", "y"}, {"1", "3", "2"});
  ASSERT_TRUE(now.continue_tasks_of(study_of({"x", "y"}, {"1", "2"})));
  EXPECT_THAT(commands_of(now), ElementsAre("e x 1 1", "e x 2 2", "e y 1 3", "e y 2 4", "e w 1 5",
                                            "e w 3 6", "e w 2 7", "e x 3 8", "e y 3 9"));
  // The points of `now` are w1 w3 w2 x1 x3 x2 y1 y3 y2.
  EXPECT_THAT(now.points(1).order,
              ElementsAre(PointRange{0, 3}, PointRange{4, 1}, PointRange{7, 1}));
}

TEST(ApplicationNumbers, GoOnFromAnOrder) {
  Application second = study_of({"x"}, {"1", "2"});
  ASSERT_TRUE(second.continue_tasks_of(study_of({"x"}, {"2"})));
  Application third = study_of({"x"}, {"0", "1", "2"});
  ASSERT_TRUE(third.continue_tasks_of(second));
  EXPECT_THAT(commands_of(third), ElementsAre("e x 2 1", "e x 1 2", "e x 0 3"));
}

TEST(ApplicationNumbers, AnotherOrderIsNoOtherStudy) {
  Application now = study_of({"y", "x"}, {"1"});
  ASSERT_TRUE(now.continue_tasks_of(study_of({"x", "y"}, {"1"})));
  EXPECT_THAT(commands_of(now), ElementsAre("e x 1 1", "e y 1 2"));
}

TEST(ApplicationNumbers, StayWhenAPointIsGone) {
  Application now = study_of({"x", "z"}, {"1", "2"});
  const auto before = commands_of(now);
  EXPECT_FALSE(now.continue_tasks_of(study_of({"x", "y"}, {"1"})));
  EXPECT_EQ(commands_of(now), before);
}

TEST(ApplicationNumbers, EqualPointsAreTasksOfTheirOwn) {
  Application now = study_of({"y", "x", "x", "x"}, {"1"});
  ASSERT_TRUE(now.continue_tasks_of(study_of({"x", "x"}, {"1"})));
  EXPECT_THAT(commands_of(now), ElementsAre("e x 1 1", "e x 1 2", "e y 1 3", "e x 1 4"));
  Application other = study_of({"x", "x", "y", "z"}, {"1"});
  EXPECT_FALSE(other.continue_tasks_of(now));
}

TEST(ApplicationNumbers, AFilterThatLetsMorePassGrowsAStudy) {
  auto wanted = definition_of({"1", "2", "3"}, {"1"});
  wanted.when = SourceText{"a != 2", {}, false};
  const Application before(Sweep::build(wanted).value());
  wanted.when = SourceText{"a >= 1", {}, false};
  Application now(Sweep::build(wanted).value());
  ASSERT_EQ(before.study_digest(), now.study_digest());
  ASSERT_TRUE(now.continue_tasks_of(before));
  EXPECT_THAT(commands_of(now), ElementsAre("e 1 1 1", "e 3 1 2", "e 2 1 3"));
}

TEST(ApplicationNumbers, EveryNodeGrows) {
  Application before = two_nodes({"y"}, {"9"});
  before.add_rest();
  Application now = two_nodes({"x", "y"}, {"8", "9"});
  ASSERT_TRUE(now.continue_tasks_of(before));
  const Texts expected{"e y 1 1", "plot 1 9 2", "e x 1 3", "plot 1 8 4"};
  EXPECT_EQ(commands_of(now), expected);

  // The journal has the first batches as they were in the study before.
  auto journal = journal_of(before);
  journal.push_back({now.batches()[2], now.points(2)});
  journal.push_back({now.batches()[3], now.points(3)});
  Application again = two_nodes({"x", "y"}, {"8", "9"});
  ASSERT_TRUE(again.number_tasks(journal, now.numbering()));
  EXPECT_EQ(commands_of(again), expected);
}

TEST(ApplicationNumbers, JournalledPointsOfAnOlderStudyAreInTheOrderOfEnumeration) {
  // Three studies, each with one value more in front; then in the order in which they came.
  const Batch first{NodeId(0), 0, TaskId(1), 1};
  const Batch second{NodeId(0), 0, TaskId(2), 2};
  const EnumeratedPoints of_another{{1, 2}, {{0, 1}}};
  Application now = study_of({"x", "y", "z"}, {"1"});
  ASSERT_TRUE(
      now.number_tasks(std::vector<AddedBatch>{{first, of_another}, {second, of_another}}, {}));
  EXPECT_THAT(commands_of(now), ElementsAre("e x 1 1", "e y 1 2", "e z 1 3"));
}

TEST(ApplicationNumbers, AreRefusedUnlessTheyHoldEveryPointOnce) {
  Application two = study_of({"x", "y"}, {"1"});
  const std::vector<AddedBatch> journal = journal_of(two);
  const std::vector<PointOrder> wrong{{{0, 1}}, {{0, 1}, {0, 1}}, {{0, 3}},
                                      {{1, 2}}, {{3, 0}, {5, 2}}, {{4'294'967'295, 2}}};
  for (const auto& order : wrong) EXPECT_FALSE(two.number_tasks(journal, order));
  EXPECT_THAT(commands_of(two), ElementsAre("e x 1 1", "e y 1 2"));
  ASSERT_TRUE(two.number_tasks(journal, {{1, 1}, {0, 1}}));
  EXPECT_THAT(commands_of(two), ElementsAre("e y 1 1", "e x 1 2"));
  EXPECT_FALSE(two.number_tasks({}, {}));
  auto other = journal;
  other[0].batch.node = NodeId(1);
  EXPECT_FALSE(two.number_tasks(other, {}));
  other = journal;
  other[0].batch.first = TaskId(2);
  EXPECT_FALSE(two.number_tasks(other, {}));
  other = journal;
  other[0].points = ListedPoints{{{"x", "1"}, {"y", "1"}}};
  EXPECT_FALSE(two.number_tasks(other, {}));
  ASSERT_TRUE(two.number_tasks(journal, {}));
  EXPECT_THAT(commands_of(two), ElementsAre("e x 1 1", "e y 1 2"));
}

}  // namespace
}  // namespace gantry
