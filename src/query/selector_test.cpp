#include "query/selector.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gantry::query {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(TaskSelector, ReadsNumbersAndRanges) {
  const auto selector = TaskSelector::parse("5-8,1,3,7..9,3");
  ASSERT_TRUE(selector);
  EXPECT_THAT(selector->tasks(100), ElementsAre(TaskId{1}, TaskId{3}, TaskId{5}, TaskId{6},
                                                TaskId{7}, TaskId{8}, TaskId{9}));
  EXPECT_EQ(selector->count(100), 7U);
  EXPECT_TRUE(selector->contains(TaskId{6}));
  EXPECT_FALSE(selector->contains(TaskId{4}));
  EXPECT_FALSE(selector->contains(TaskId{10}));
  EXPECT_FALSE(selector->contains(TaskId{0}));
}

TEST(TaskSelector, AllIsEveryTask) {
  const auto selector = TaskSelector::parse("all");
  ASSERT_TRUE(selector);
  EXPECT_TRUE(selector->all());
  EXPECT_EQ(selector->tasks(3).size(), 3U);
  EXPECT_TRUE(selector->contains(TaskId{4000000000}));
}

TEST(TaskSelector, HugeRangesAreCutToTheRun) {
  const auto selector = TaskSelector::parse("2-4294967295");
  ASSERT_TRUE(selector);
  const auto bounded = selector->within(3);
  ASSERT_TRUE(bounded);
  EXPECT_THAT(bounded->tasks(3), ElementsAre(TaskId{2}, TaskId{3}));
  EXPECT_EQ(selector->count(3), 2U);
}

TEST(TaskSelector, ATaskPastTheEndIsAnError) {
  const auto bounded = TaskSelector::parse("1,12")->within(10);
  ASSERT_FALSE(bounded);
  EXPECT_THAT(bounded.error().message, HasSubstr("no task 12: the run has 10 tasks"));
}

TEST(TaskSelector, ErrorsNamePlaceAndCause) {
  const auto message = [](std::string_view text) {
    const auto selector = TaskSelector::parse(text);
    EXPECT_FALSE(selector) << text;
    EXPECT_EQ(selector.error().code, ErrorCode::usage);
    return selector.error().message;
  };
  EXPECT_EQ(message("1,x,3"), "selector '1,x,3', at character 3 ('x'): a task number is expected");
  EXPECT_EQ(message("1,"), "selector '1,', at the end: a task number is expected");
  EXPECT_EQ(message(""), "selector '', at the end: a task number is expected");
  EXPECT_THAT(message("8-5"), HasSubstr("from low to high"));
  EXPECT_THAT(message("0"), HasSubstr("from 1"));
  EXPECT_THAT(message("99999999999"), HasSubstr("too large"));
  EXPECT_THAT(message("1 2"), HasSubstr("expected ','"));
  EXPECT_THAT(message("\x1b[2J"), HasSubstr("\\x1b"));
  EXPECT_THAT(message("-3"), HasSubstr("character 1"));
}

TEST(RunSelector, ReadsLastAllAndNumbers) {
  EXPECT_EQ(parse_run_selector("last")->kind, RunSelector::Kind::last);
  EXPECT_EQ(parse_run_selector("all")->kind, RunSelector::Kind::all);
  EXPECT_EQ(parse_run_selector("12")->id, RunId{12});
  for (const char* bad : {"", "0", "-1", "1x", "first", "99999999999"})
    EXPECT_FALSE(parse_run_selector(bad)) << bad;
}

}  // namespace
}  // namespace gantry::query
