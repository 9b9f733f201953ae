// Ends of attempts that an earlier gantry started, whose inputs may have changed since.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

#include "driver/hub_fixture.hpp"

namespace gantry::driver {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;
using ::testing::StartsWith;

TEST_F(HubTest, AnEndFromBeforeAnInputChangedDoesNotCount) {
  write("prog", "#!/bin/sh\n");
  auto study = sweep({"./prog", "{}", ":::", "a", "b", "c"});
  std::vector<Fingerprint> before;
  for (std::uint32_t i = 1; i <= 3; ++i) before.push_back(print_of(study, i));
  write("prog", "#!/bin/sh\nexit 0\n");
  FakeLauncher launcher;
  // Ended meanwhile, well or badly; and still running.
  AttemptReport ended;
  ended.key = {RunId(1), TaskId(1), AttemptId(1)};
  launcher.report(ended, before[0]);
  ended.key.task = TaskId(2);
  ended.cause = FailureCause::exit_code;
  launcher.report(ended, before[1]);
  launcher.announce(AttemptStarted{{RunId(1), TaskId(3), AttemptId(1)}, HostId(1), from_ns(1)});
  bool told = false;
  launcher.outcome = [&](const Task&, AttemptReport&) {
    AttemptReport adopted;
    adopted.key = {RunId(1), TaskId(3), AttemptId(1)};
    if (!std::exchange(told, true)) launcher.report(adopted, before[2]);
  };
  std::uint32_t shown = 0;
  observer_.ended = [&](const AttemptEnded&, AfterEnd) { ++shown; };
  const auto summary = drive_with(launcher, study);
  EXPECT_EQ(summary.counts.done, 3U);
  EXPECT_THAT(launcher.started, SizeIs(3));
  EXPECT_EQ(shown, 3U) << "what does not count is not shown";
  for (const auto& row : rows(summary.run)) {
    EXPECT_EQ(row.attempt, AttemptId(2));
    const auto history = open_store().history(summary.run, row.task).value();
    ASSERT_THAT(history, SizeIs(3));
    EXPECT_THAT(history[1].text, StartsWith("an input or the program changed"));
  }
}

/// A site could not be reached when the run began, so that the task was started here meanwhile.
TEST_F(HubTest, AnEndFromBeforeAnInputChangedDoesNotCountHoweverLateItComes) {
  write("prog", "#!/bin/sh\n");
  auto study = sweep({"./prog", "{}", ":::", "a"});
  const Fingerprint before = print_of(study, 1);
  write("prog", "#!/bin/sh\nexit 0\n");
  const TaskKey here{RunId(1), TaskId(1), AttemptId(1)};
  const TaskKey there{RunId(1), TaskId(1), AttemptId(2)};
  FakeLauncher launcher;
  launcher.hold = true;
  int looks = 0;
  observer_.progress = [&](const Progress& progress) {
    if (launcher.started.empty()) return;
    AttemptReport made;
    made.started = from_ns(1);
    made.ended = from_ns(2);
    if (++looks == 1) {
      launcher.announce(HostUp{{HostId(2), "far", 2, 0}});
      launcher.announce(AttemptStarted{there, HostId(2), from_ns(1)});
      made.key = there;
      launcher.report(made, before, HostId(2));
    } else if (looks == 4) {
      EXPECT_EQ(progress.counts.done, 0U) << "it has read the old program";
      made.key = here;
      launcher.report(made, print_of(study, 1));
    }
  };
  EXPECT_EQ(drive_with(launcher, study).counts.done, 1U);
  EXPECT_THAT(launcher.started, ElementsAre(here));
  EXPECT_THAT(launcher.cancelled, SizeIs(0)) << "what was started with the new program counts";
  EXPECT_EQ(rows(RunId(1)).front().attempt, here.attempt);
}

}  // namespace
}  // namespace gantry::driver
