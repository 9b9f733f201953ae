#include "query/stored_run.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "query/query_fixture.hpp"

namespace gantry::query {
namespace {

using testing::HasSubstr;

class StoredRunTest : public QueryTest {
 protected:
  std::string why_not(std::string_view selector) {
    const auto run = open_run(dir_.path(), selector);
    return run ? "" : run.error().message;
  }
};

TEST_F(StoredRunTest, FindsRunsBySelector) {
  const RunId first = create_run(1, "first");
  const RunId second = create_run(1, "second");
  EXPECT_EQ(open_run(dir_.path(), std::to_string(first.value()))->record.name, "first");
  EXPECT_EQ(open_run(dir_.path(), "last")->record.id, second);
  ASSERT_TRUE(store_.mark_driven(first));
  ASSERT_TRUE(store_.commit());
  EXPECT_EQ(open_run(dir_.path(), "last")->record.id, first) << "it was driven since";
  const auto all = open_runs(dir_.path(), "all");
  ASSERT_EQ(all->records.size(), 2U);
  EXPECT_EQ(all->records[1].id, second);
  EXPECT_EQ(open_runs(dir_.path(), "last")->records.size(), 1U);
}

TEST_F(StoredRunTest, SaysWhyThereIsNone) {
  EXPECT_THAT(why_not("last"), HasSubstr("there are no runs in "));
  EXPECT_THAT(why_not("7"), HasSubstr("there is no run 7"));
  EXPECT_THAT(why_not("all"), HasSubstr("one run, not all"));
  EXPECT_THAT(why_not("x\n"), HasSubstr("'x\\n' names no run"));
  EXPECT_EQ(open_runs(dir_.path(), "all")->records.size(), 0U);
  const auto nowhere = open_run(dir_ / "nowhere", "last");
  ASSERT_FALSE(nowhere);
  EXPECT_THAT(nowhere.error().message, HasSubstr("there are no runs in "));
  EXPECT_FALSE(std::filesystem::exists(dir_ / "nowhere")) << "a question makes no state directory";
}

}  // namespace
}  // namespace gantry::query
