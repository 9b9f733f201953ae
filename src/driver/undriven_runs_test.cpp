#include "driver/undriven_runs.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "driver/undriven_fixture.hpp"

namespace gantry::driver {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST_F(UndrivenRunsTest, CountsEveryEndOnce) {
  take({report(1, 1), report(2, 1), report(2, 1), report(3, 1, FailureCause::exit_code)});
  EXPECT_EQ(record().counts.done, 2U);
  EXPECT_EQ(record().counts.failed, 1U);
  EXPECT_EQ(record().state, store::RunState::finished);
  EXPECT_THAT(rows(run_), SizeIs(3));
  take({report(3, 1), report(3, 2)});
  EXPECT_EQ(record().counts.done, 3U);
  EXPECT_EQ(record().counts.failed, 0U) << "the failure was made good";
}

TEST_F(UndrivenRunsTest, WhatHasComeFromASiteIsPutInItsPlace) {
  write("sweep.yaml", "command: make {x}\nparameters: {x: [a, b, c]}\noutputs: ['new/{x}']\n");
  options_.reload = [&](const store::RunRecord&) -> Result<Application> {
    return Application(spec::load_sweep((dir_ / "sweep.yaml").string()).value().sweep);
  };
  write("come", "result");
  write("rubbish", "x");
  auto first = report(1, 1);
  first.outputs = {{(dir_ / "come").string(), (dir_ / "new/a").string()}};
  auto again = report(1, 1);
  again.outputs = {{(dir_ / "rubbish").string(), (dir_ / "new/a").string()}};
  take({std::move(first), std::move(again)});
  EXPECT_EQ(read_file(dir_ / "new/a").value_or(""), "result");
  EXPECT_FALSE(std::filesystem::exists(dir_ / "rubbish"));
}

TEST_F(UndrivenRunsTest, WhatCannotBePutInItsPlaceIsKeptUntilTheLastTime) {
  write("sweep.yaml", "command: make {x}\nparameters: {x: [a, b, c]}\noutputs: ['new/{x}']\n");
  options_.reload = [&](const store::RunRecord&) -> Result<Application> {
    return Application(spec::load_sweep((dir_ / "sweep.yaml").string()).value().sweep);
  };
  write("come-1", "result");
  write("come-2", "result");
  write("new", "in the way");
  auto first = report(1, 1);
  first.outputs = {{(dir_ / "come-1").string(), (dir_ / "new/a").string()}};
  auto second = report(2, 1);
  second.outputs = {{(dir_ / "come-2").string(), (dir_ / "new/b").string()}};
  {
    auto store = open_store();
    UndrivenRuns runs(store, options_);
    EXPECT_NE(runs.take(first, "here", from_ns(9)).value_or(""), "");
    EXPECT_TRUE(std::filesystem::exists(dir_ / "come-1"));
    EXPECT_EQ(runs.take(second, "here", from_ns(9), true).value_or("an error"), "");
    EXPECT_FALSE(std::filesystem::exists(dir_ / "come-2"));
    std::filesystem::remove(dir_ / "new");
    EXPECT_EQ(runs.take(first, "here", from_ns(9)).value_or("an error"), "");
    ASSERT_TRUE(store.commit());
  }
  EXPECT_EQ(read_file(dir_ / "new/a").value_or(""), "result");
  EXPECT_EQ(record().counts.done, 1U);
  EXPECT_EQ(record().counts.failed, 1U);
}

TEST_F(UndrivenRunsTest, AFirstAttemptCountsAfterAReusedResultWasTakenBack) {
  journal(
      TaskReused{RunId(1), TaskId(1), RunId(9), TaskId(4), AttemptId(3), {}, {}, {}, from_ns(1)});
  journal(TaskInvalidated{RunId(1), TaskId(1), "an input changed", from_ns(2)});
  take({report(1, 1)});
  ASSERT_THAT(rows(run_), SizeIs(1));
  EXPECT_EQ(rows(run_)[0].attempt, AttemptId(1));
  EXPECT_FALSE(rows(run_)[0].reused);
  EXPECT_EQ(record().counts.done, 1U);
}

TEST_F(UndrivenRunsTest, ASuccessOfAStudyThatIsLostMustRunAgain) {
  options_.reload = [](const store::RunRecord&) -> Result<Application> {
    return fail(ErrorCode::usage, "a file that its values come from has changed");
  };
  take({report(1, 1)});
  ASSERT_THAT(rows(run_), SizeIs(1));
  EXPECT_EQ(rows(run_)[0].cause, FailureCause::missing_result);
  EXPECT_EQ(rows(run_)[0].detail, "a file that its values come from has changed");
}

TEST_F(UndrivenRunsTest, ForgetsWhatBelongsToNoTask) {
  const RunId known = run_;
  take({report(4, 1)});  // of three tasks
  run_ = RunId(99);
  take({report(1, 1)});
  EXPECT_THAT(rows(known), IsEmpty());
  EXPECT_THAT(rows(RunId(99)), IsEmpty());
  run_ = known;
  EXPECT_EQ(record().counts.done, 0U);
  take({report(3, 1)});
  EXPECT_THAT(rows(known), SizeIs(1));
}

}  // namespace
}  // namespace gantry::driver
