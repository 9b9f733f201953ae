#include "model/point_order.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "model/sweep_fixture.hpp"

namespace gantry {
namespace {

using ::testing::ElementsAre;

TEST(PointOrder, PointsAreFoundByTheirValues) {
  const Sweep before = sweep_of({"x", "y"}, {"1", "2"});
  // The points of `now` are w1 w3 w2 x1 x3 x2 y1 y3 y2.
  EXPECT_THAT(positions_in(sweep_of({"w", "x", "y"}, {"1", "3", "2"}), before).value(),
              ElementsAre(3, 5, 6, 8));
}

TEST(PointOrder, ThereAreNoPositionsWhenAPointIsGone) {
  EXPECT_FALSE(positions_in(sweep_of({"x"}, {"1"}), sweep_of({"x", "y"}, {"1"})));
  EXPECT_FALSE(positions_in(sweep_of({"x", "z"}, {"1", "2"}), sweep_of({"x", "y"}, {"1"})));
}

TEST(PointOrder, EqualPointsAreTwo) {
  const Sweep two = sweep_of({"x", "x"}, {"1"});
  EXPECT_THAT(positions_in(sweep_of({"y", "x", "x", "x"}, {"1"}), two).value(), ElementsAre(1, 2));
  EXPECT_FALSE(positions_in(sweep_of({"x", "y", "z"}, {"1"}), two));
}

/// It takes a tenth of a second; to pass over all that were taken before took 22 s.
TEST(PointOrder, ManyEqualPointsAreFoundAtOnce) {
  const Sweep many = sweep_of(std::vector<std::string>(200'000, "x"), {"1"});
  const auto positions = positions_in(many, many).value();  // each compared with each: minutes
  EXPECT_TRUE(std::ranges::is_sorted(positions));
  EXPECT_EQ(positions.back(), 199'999U);
}

TEST(PointOrder, ValuesAreNotGluedTogether) {
  EXPECT_FALSE(positions_in(sweep_of({"a"}, {"bc"}), sweep_of({"ab"}, {"c"})));
}

TEST(PointOrder, RangesAreMovedAndCut) {
  EXPECT_THAT(moved({{1, 2}, {0, 1}}, {7, 3, 4}), ElementsAre(PointRange{3, 2}, PointRange{7, 1}));
  const PointOrder order{{5, 3}, {0, 2}, {9, 1}};
  EXPECT_THAT(part_of(order, 1, 3), ElementsAre(PointRange{6, 2}, PointRange{0, 1}));
  EXPECT_THAT(part_of(order, 4, 9), ElementsAre(PointRange{1, 1}, PointRange{9, 1}));
  EXPECT_EQ(count_points(order), 6U);
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
