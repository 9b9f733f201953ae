#include "query/failure_tally.hpp"

#include <gtest/gtest.h>

namespace gantry::query {
namespace {

AttemptEnded ended(std::uint32_t task, FailureCause cause, std::int32_t code,
                   std::string err = {}) {
  AttemptEnded event;
  event.report.key.task = TaskId{task};
  event.report.cause = cause;
  event.report.code = code;
  event.report.err.text = std::move(err);
  return event;
}

TEST(FailureTally, GroupsByCauseMostFrequentFirst) {
  FailureTally tally;
  tally.add(ended(1, FailureCause::timeout, 0));
  tally.add(ended(2, FailureCause::exit_code, 3, "first\nbad mesh\x1b\n"));
  tally.add(ended(3, FailureCause::exit_code, 3, "other"));
  tally.add(ended(4, FailureCause::exit_code, 4));
  const auto groups = tally.groups();
  ASSERT_EQ(groups.size(), 3U);
  EXPECT_EQ(groups[0].cause, FailureCause::exit_code);
  EXPECT_EQ(groups[0].code, 3);
  EXPECT_EQ(groups[0].count, 2U);
  EXPECT_EQ(groups[0].example, TaskId{2});
  EXPECT_EQ(groups[0].detail, "bad mesh\x1b");
}

TEST(FailureTally, ATaskCountsWithItsLatestEnd) {
  FailureTally tally;
  tally.add(ended(1, FailureCause::exit_code, 3, "x"));
  tally.add(ended(1, FailureCause::none, 0));
  tally.add(ended(2, FailureCause::exit_code, 3, "y"));
  tally.add(ended(3, FailureCause::cancelled, 0));
  const auto groups = tally.groups();
  ASSERT_EQ(groups.size(), 1U);
  EXPECT_EQ(groups[0].count, 1U);
  EXPECT_EQ(groups[0].example, TaskId{2});
  EXPECT_EQ(groups[0].detail, "y");  // what task 1 said is not task 2's reason
}

TEST(FailureTally, TheExampleSaysWhyItFailedAtLast) {
  FailureTally tally;
  tally.add(ended(1, FailureCause::out_of_memory, 9, "tried again"));
  tally.add(ended(2, FailureCause::out_of_memory, 9, "other"));
  tally.add(ended(1, FailureCause::out_of_memory, 9, "given up"));
  EXPECT_EQ(tally.groups()[0].detail, "given up");
}

}  // namespace
}  // namespace gantry::query
