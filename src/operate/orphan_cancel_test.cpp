#include "operate/orphan_cancel.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "driver/undriven_fixture.hpp"

namespace gantry::operate {
namespace {

using driver::FakeLauncher;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class OrphanCancelTest : public driver::UndrivenRunsTest {
 protected:
  /// As `gantry cancel` without a driver.
  bool cancel(FakeLauncher& launcher, const store::Request& request) {
    auto store = open_store();
    driver::UndrivenRuns runs(store, options_);
    auto some = cancel_orphans(*driver::sites_with(launcher), store, runs, {request}, clock_);
    EXPECT_TRUE(some) << (some ? "" : some.error().message);
    return some && *some;
  }
};

TEST_F(OrphanCancelTest, CancellingLeavesWhatHasEndedAlone) {
  journal_end(1, 1, FailureCause::none);
  journal_end(2, 1, FailureCause::exit_code);
  FakeLauncher launcher;
  EXPECT_TRUE(cancel(launcher, {0, run_, true, {}}));
  EXPECT_EQ(record().counts.done, 1U);
  EXPECT_EQ(record().counts.failed, 1U);
  EXPECT_EQ(record().counts.cancelled, 1U);
  EXPECT_FALSE(cancel(launcher, {0, run_, true, {}})) << "nothing is left to cancel";
  EXPECT_THAT(launcher.started, IsEmpty());
}

TEST_F(OrphanCancelTest, CancelsWhatRunsAlsoWhenItFailedBefore) {
  options_.reload = [](const store::RunRecord&) -> Result<Application> {
    return fail(ErrorCode::usage, "the study has changed");
  };
  journal_end(2, 1, FailureCause::exit_code);
  FakeLauncher launcher;
  const TaskKey running{run_, TaskId(2), AttemptId(2)};
  launcher.announce(AttemptStarted{running, HostId(1), from_ns(1)});
  launcher.announce(AttemptStarted{{run_, TaskId(3), AttemptId(1)}, HostId(1), from_ns(1)});
  launcher.announce(AttemptStarted{{RunId(7), TaskId(2), AttemptId(1)}, HostId(1), from_ns(1)});
  EXPECT_TRUE(cancel(launcher, {0, run_, false, {TaskId(2)}}));
  EXPECT_THAT(launcher.cancelled, ElementsAre(running));
  EXPECT_EQ(launcher.acknowledged, 1U);
  ASSERT_THAT(rows(run_), SizeIs(1));
  EXPECT_EQ(rows(run_)[0].cause, FailureCause::cancelled);
  EXPECT_EQ(record().counts.cancelled, 1U);
}

TEST_F(OrphanCancelTest, CancellingTakesInWhatEndedMeanwhile) {
  FakeLauncher launcher;
  launcher.report(report(1, 1).report);
  EXPECT_FALSE(cancel(launcher, {0, run_, false, {TaskId(1)}}));
  EXPECT_EQ(record().counts.done, 1U);
  EXPECT_EQ(launcher.acknowledged, 1U);
}

}  // namespace
}  // namespace gantry::operate
