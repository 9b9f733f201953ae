#include "query/find_attempt.hpp"

#include <gtest/gtest.h>

#include "query/query_fixture.hpp"

namespace gantry::query {
namespace {

class FindAttemptTest : public QueryTest {
 protected:
  FindAttemptTest() : first_(create_run(3)), second_(create_run(3)) {
    end(first_, 1, 1, FailureCause::exit_code);
    end(first_, 1, 2);
    append(second_,
           TaskReused{second_, TaskId{1}, first_, TaskId{1}, AttemptId{2}, {}, {}, {}, from_ns(5)});
  }

  /// 0: none is found.
  std::uint32_t attempt(RunId run, std::uint32_t task, std::uint32_t asked = 0) {
    const auto found = find_attempt(store_, run, TaskId{task}, AttemptId{asked}).value();
    return found ? found->attempt.value() : 0;
  }

  RunId first_;
  RunId second_;
};

TEST_F(FindAttemptTest, TheLatestThatEndedOrTheOneThatIsAskedFor) {
  EXPECT_EQ(attempt(first_, 1), 2U);
  EXPECT_EQ(attempt(first_, 1, 1), 1U);
  EXPECT_EQ(attempt(first_, 1, 3), 0U);
  EXPECT_EQ(attempt(first_, 2), 0U);
}

TEST_F(FindAttemptTest, AReusedResultLeadsToTheAttemptThatMadeIt) {
  EXPECT_EQ(attempt(second_, 1), 2U);
  ASSERT_TRUE(store_.remove_run(first_));
  EXPECT_EQ(attempt(second_, 1), 2U) << "its output is kept for the run that has reused it";
}

}  // namespace
}  // namespace gantry::query
