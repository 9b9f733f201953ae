#include "model/point_order.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/sweep_definition.hpp"

namespace gantry {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Texts = std::vector<std::string>;

SweepDefinition definition_of(Texts a, Texts b) {
  SweepDefinition result;
  result.name = "t";
  result.base_dir = "/base";
  result.command = {{"e {a} {b} {#}", {}, false}};
  result.parameters.push_back({"a", ParameterValues::list(std::move(a))});
  result.parameters.push_back({"b", ParameterValues::list(std::move(b))});
  return result;
}

Sweep sweep_of(Texts a, Texts b) {
  return std::move(*Sweep::build(definition_of(std::move(a), std::move(b))));
}

/// "e a1 b1 1" of each task.
Texts commands_of(const Sweep& sweep) {
  Texts result;
  for (std::uint32_t i = 1; i <= sweep.size(); ++i)
    result.push_back(sweep.task(TaskId(i)).argv.front());
  return result;
}

TEST(PointOrder, MoreValuesOfTheSlowestParameterAreEnumeratedLast) {
  const Sweep before = sweep_of({"x", "y"}, {"1", "2"});
  const auto order = order_after(before, sweep_of({"x", "y", "z"}, {"1", "2"}));
  ASSERT_TRUE(order);
  EXPECT_THAT(*order, IsEmpty());
}

TEST(PointOrder, ExistingTasksKeepTheirNumbersWhereverValuesAreInserted) {
  const Sweep before = sweep_of({"x", "y"}, {"1", "2"});
  Sweep now = sweep_of({"w", "x", "y"}, {"1", "3", "2"});
  const auto order = order_after(before, now);
  ASSERT_TRUE(order);
  ASSERT_TRUE(now.number_tasks(*order));
  EXPECT_THAT(commands_of(now), ElementsAre("e x 1 1", "e x 2 2", "e y 1 3", "e y 2 4", "e w 1 5",
                                            "e w 3 6", "e w 2 7", "e x 3 8", "e y 3 9"));
  // The points of `now` are w1 w3 w2 x1 x3 x2 y1 y3 y2.
  EXPECT_THAT(order_from(*order, TaskId(5), 9),
              ElementsAre(PointRange{0, 3}, PointRange{4, 1}, PointRange{7, 1}));
}

TEST(PointOrder, GoesOnFromAnOrder) {
  Sweep first = sweep_of({"x"}, {"2"});
  Sweep second = sweep_of({"x"}, {"1", "2"});
  ASSERT_TRUE(second.number_tasks(*order_after(first, second)));
  Sweep third = sweep_of({"x"}, {"0", "1", "2"});
  ASSERT_TRUE(third.number_tasks(*order_after(second, third)));
  EXPECT_THAT(commands_of(third), ElementsAre("e x 2 1", "e x 1 2", "e x 0 3"));
}

TEST(PointOrder, AnotherOrderIsNoOtherStudy) {
  const Sweep before = sweep_of({"x", "y"}, {"1"});
  Sweep now = sweep_of({"y", "x"}, {"1"});
  ASSERT_TRUE(now.number_tasks(*order_after(before, now)));
  EXPECT_THAT(commands_of(now), ElementsAre("e x 1 1", "e y 1 2"));
}

TEST(PointOrder, ThereIsNoneWhenAPointIsGone) {
  EXPECT_FALSE(order_after(sweep_of({"x", "y"}, {"1"}), sweep_of({"x"}, {"1"})));
  EXPECT_FALSE(order_after(sweep_of({"x", "y"}, {"1"}), sweep_of({"x", "z"}, {"1", "2"})));
}

TEST(PointOrder, EqualPointsAreTasksOfTheirOwn) {
  const Sweep before = sweep_of({"x", "x"}, {"1"});
  Sweep now = sweep_of({"y", "x", "x", "x"}, {"1"});
  ASSERT_TRUE(now.number_tasks(*order_after(before, now)));
  EXPECT_THAT(commands_of(now), ElementsAre("e x 1 1", "e x 1 2", "e y 1 3", "e x 1 4"));
  EXPECT_FALSE(order_after(now, sweep_of({"x", "x", "y", "z"}, {"1"})));
}

TEST(PointOrder, ValuesAreNotGluedTogether) {
  EXPECT_FALSE(order_after(sweep_of({"ab"}, {"c"}), sweep_of({"a"}, {"bc"})));
}

TEST(PointOrder, AFilterThatLetsMorePassGrowsAStudy) {
  auto wanted = definition_of({"1", "2", "3"}, {"1"});
  wanted.when = SourceText{"a != 2", {}, false};
  const auto before = Sweep::build(wanted);
  wanted.when = SourceText{"a >= 1", {}, false};
  auto now = Sweep::build(wanted);
  ASSERT_EQ(before->study_digest(), now->study_digest());
  ASSERT_TRUE(now->number_tasks(*order_after(*before, *now)));
  EXPECT_THAT(commands_of(*now), ElementsAre("e 1 1 1", "e 3 1 2", "e 2 1 3"));
}

TEST(SweepNumbers, AreRefusedUnlessTheyHoldEveryPointOnce) {
  Sweep two = sweep_of({"x", "y"}, {"1"});
  const std::vector<std::vector<PointRange>> wrong{
      {{0, 1}}, {{0, 1}, {0, 1}}, {{0, 3}}, {{1, 2}}, {{3, 0}, {0, 2}}, {{4'294'967'295, 2}}};
  for (const auto& order : wrong) EXPECT_FALSE(two.number_tasks(order));
  EXPECT_THAT(commands_of(two), ElementsAre("e x 1 1", "e y 1 2"));
  ASSERT_TRUE(two.number_tasks(PointOrder{{1, 1}, {0, 1}}));
  EXPECT_THAT(commands_of(two), ElementsAre("e y 1 1", "e x 1 2"));
  ASSERT_TRUE(two.number_tasks({}));
  EXPECT_THAT(commands_of(two), ElementsAre("e x 1 1", "e y 1 2"));
}

TEST(SweepDigests, TheStudyIsAllButThePoints) {
  const auto base = definition_of({"x", "y"}, {"1"});
  const auto differs = [&](const SweepDefinition& other) {
    return Sweep::build(base)->study_digest() != Sweep::build(other)->study_digest();
  };
  auto other = definition_of({"x", "y", "z"}, {"1"});
  EXPECT_FALSE(differs(other));
  EXPECT_NE(Sweep::build(base)->digest(), Sweep::build(other)->digest());
  other = base;
  other.command[0].text = "e {a} {b} more";
  EXPECT_TRUE(differs(other));
  other = base;
  other.parameters[0].name = "c";
  other.command[0].text = "e {c} {b} {#}";
  EXPECT_TRUE(differs(other));
  other = base;
  other.outputs.push_back({"out-{a}-{b}", {}, false});
  EXPECT_TRUE(differs(other));
  other = base;
  other.base_dir = "/elsewhere";
  EXPECT_TRUE(differs(other));
}

}  // namespace
}  // namespace gantry
