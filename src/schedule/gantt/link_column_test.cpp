#include "schedule/gantt/link_column.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gantry::schedule {
namespace {

using testing::ElementsAre;

/// A transfer of that length, whenever it begins.
auto lasting(Seconds duration) {
  return [duration](Seconds start) { return start + duration; };
}

TEST(LinkColumn, IsTakenByWhatIsUnderWay) {
  EXPECT_EQ(LinkColumn().first_gap(0, lasting(5)), (Span{0, 5}));
  EXPECT_EQ(LinkColumn(3).first_gap(0, lasting(5)), (Span{3, 8}));
  EXPECT_EQ(LinkColumn(3).first_gap(4, lasting(5)), (Span{4, 9}));
  EXPECT_EQ(LinkColumn(-3).first_gap(0, lasting(5)), (Span{0, 5}));
}

TEST(LinkColumn, ATransferTakesTheFirstGapThatHoldsIt) {
  LinkColumn column(2);
  column.reserve({6, 10});
  column.reserve({11, 20});
  EXPECT_EQ(column.first_gap(0, lasting(4)), (Span{2, 6}));
  EXPECT_EQ(column.first_gap(0, lasting(4.5)), (Span{20, 24.5}));
  EXPECT_EQ(column.first_gap(3, lasting(4)), (Span{20, 24}));
  EXPECT_EQ(column.first_gap(7, lasting(1)), (Span{10, 11}));
  EXPECT_EQ(column.first_gap(10.5, lasting(1)), (Span{20, 21}));
}

TEST(LinkColumn, AGapThatIsLongEnoughMayStillBeTooSlow) {
  LinkColumn column;
  column.reserve({10, 20});
  // 8 seconds before the link speeds up at 20, then 2.
  const auto slow_at_first = [](Seconds start) { return start + (start < 20 ? 8 : 2); };
  EXPECT_EQ(column.first_gap(0, slow_at_first), (Span{0, 8}));
  EXPECT_EQ(column.first_gap(3, slow_at_first), (Span{20, 22}));
}

TEST(LinkColumn, WhatTouchesIsOne) {
  LinkColumn column(2);
  column.reserve({2, 4});
  column.reserve({6, 8});
  EXPECT_THAT(column.taken(), ElementsAre(Span{0, 4}, Span{6, 8}));
  column.reserve({4, 5});
  column.reserve({5.5, 6});
  EXPECT_THAT(column.taken(), ElementsAre(Span{0, 5}, Span{5.5, 8}));
  column.reserve({5, 5.5});
  EXPECT_THAT(column.taken(), ElementsAre(Span{0, 8}));
}

TEST(LinkColumn, WhatTakesNoTimeTakesNoRoom) {
  LinkColumn column;
  column.reserve({3, 3});
  EXPECT_TRUE(column.taken().empty());
}

TEST(LinkColumn, GapsThatNobodyCanUseAreClosed) {
  LinkColumn column(2);
  const auto shorter_than_one = [](Span gap) { return gap.end - gap.start < 1; };
  column.reserve({2.5, 4}, shorter_than_one);
  EXPECT_THAT(column.taken(), ElementsAre(Span{0, 4}));
  column.reserve({5, 6}, shorter_than_one);
  column.reserve({8, 9}, shorter_than_one);
  EXPECT_THAT(column.taken(), ElementsAre(Span{0, 4}, Span{5, 6}, Span{8, 9}));
  column.reserve({6.5, 7.5}, shorter_than_one);
  EXPECT_THAT(column.taken(), ElementsAre(Span{0, 4}, Span{5, 9}));
}

TEST(LinkColumn, ManyMomentsFindTheGapThatEachFinds) {
  LinkColumn column(2);
  for (const Span taken : {Span{6, 10}, Span{11, 20}, Span{23, 24}}) column.reserve(taken);
  std::vector<Seconds> from;
  for (int i = 0; i < 120; ++i) from.push_back(i / 4.0);
  for (const Seconds duration : {0.5, 1.0, 3.0, 4.0, 50.0}) {
    std::vector<Seconds> found;
    for (const Seconds start : from) found.push_back(start + duration);
    column.first_gap_each(from, lasting(duration), found);
    for (std::size_t i = 0; i < from.size(); ++i)
      EXPECT_EQ(found[i], column.first_gap(from[i], lasting(duration)).end) << from[i];
  }
}

TEST(LinkColumn, WhatNeverArrivesFitsNowhere) {
  LinkColumn column;
  column.reserve({10, 20});
  EXPECT_EQ(column.first_gap(0, lasting(kInfinite)).end, kInfinite);
}

}  // namespace
}  // namespace gantry::schedule
