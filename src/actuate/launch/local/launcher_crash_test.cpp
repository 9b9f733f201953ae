// Gantry, the agent or a slot's process dies; nothing that ended is lost, nothing runs on unseen.
#include <gmock/gmock.h>
#include <signal.h>

#include <algorithm>
#include <sstream>

#include "actuate/launch/local/launcher_fixture.hpp"
#include "agent/process_tree.hpp"
#include "agent/slot_log.hpp"

namespace gantry {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

class LauncherCrashTest : public LauncherTest {
 protected:
  void SetUp() override { open(); }

  /// Leaves its process number in `name` and runs until it is killed, or until a file "go" exists.
  Task sleeper(const std::string& name) {
    return sh("echo $$ > " + name + ".tmp; mv " + name + ".tmp " + name +
              "; while [ ! -e go ]; do sleep 0.02; done; echo finished");
  }
  void let_go() { ASSERT_TRUE(write_file_atomic(dir_ / "go", "")); }
  bool agent_gone() {
    return eventually([&] { return !agent_is_running(site_.state_dir); });
  }
  std::filesystem::path agent_dir() { return site_.state_dir / "agent"; }
};

TEST_F(LauncherCrashTest, WhatRunsIsAdoptedAndReportedToTheNextGantry) {
  start(1, sleeper("one"));
  start(2, sh("echo short"));
  ASSERT_TRUE(await_file("one"));
  await_report(2);
  abandon();
  open();
  ASSERT_TRUE(poll_until([&] { return reports_.contains(2); }));  // was not acknowledged
  EXPECT_EQ(reports_[2].report.out.text, "short\n");
  EXPECT_TRUE(running_.contains(1));
  EXPECT_FALSE(reports_.contains(1));
  let_go();
  EXPECT_EQ(await_report(1).out.text, "finished\n");
  EXPECT_THAT(notices_, IsEmpty());
}

TEST_F(LauncherCrashTest, WhatWaitedIsNotStartedWithoutAGantry) {
  start(1, sleeper("one"));
  start(2, sleeper("two"));
  start(3, sh("touch three"));
  ASSERT_TRUE(await_file("one") && await_file("two"));
  abandon();
  let_go();
  ASSERT_TRUE(agent_gone());
  EXPECT_FALSE(std::filesystem::exists(dir_ / "three"));
  open();
  ASSERT_TRUE(poll_until([&] { return reports_.size() == 2; }));
  EXPECT_FALSE(reports_.contains(3));
}

TEST_F(LauncherCrashTest, ReportsOutliveTheAgentUntilTheyAreAcknowledged) {
  start(1, sh("echo first"));
  await_report(1);
  abandon();
  ASSERT_TRUE(agent_gone());
  for (int again = 0; again < 2; ++again) {
    open();
    EXPECT_EQ(await_report(1).out.text, "first\n");
    abandon();
    ASSERT_TRUE(agent_gone());
  }
  open();
  await_report(1);
  acknowledge_all();
  close();
  ASSERT_TRUE(agent_gone());
  EXPECT_THAT(agent::logged_slots(agent_dir()), IsEmpty());
  abandon();
  open();
  ASSERT_TRUE(poll_until([&] { return hosts_.size() == 5; }));  // one for each open()
  EXPECT_FALSE(reports_.contains(1));
}

TEST_F(LauncherCrashTest, AnAgentWithoutGantryAndWorkLeavesNothing) {
  EXPECT_EQ(run(sh("exit 0")).cause, FailureCause::none);
  acknowledge_all();
  EXPECT_TRUE(agent_is_running(site_.state_dir));
  EXPECT_TRUE(is_alive(agent_pid()));
  const pid_t pid = agent_pid();
  close();
  ASSERT_TRUE(agent_gone());
  EXPECT_FALSE(std::filesystem::exists(agent_dir() / "socket"));
  EXPECT_FALSE(std::filesystem::exists(agent_dir() / "pid"));
  EXPECT_THAT(agent::logged_slots(agent_dir()), IsEmpty());
  EXPECT_TRUE(eventually([&] { return !is_alive(pid); }));
}

TEST_F(LauncherCrashTest, AKilledAgentTakesItsTasksAlongAndAnotherSaysSo) {
  start(1, sleeper("one"));
  start(2, sh("setsid sh -c 'echo $$ > daemon.tmp; mv daemon.tmp daemon; exec sleep 1000' &"
              " echo $$ > two.tmp; mv two.tmp two; sleep 1000"));
  start(3, sh("echo three"));
  start(4, sh("echo four"));
  ASSERT_TRUE(await_file("one") && await_file("two") && await_file("daemon"));
  const pid_t old_agent = agent_pid();
  ASSERT_EQ(::kill(old_agent, SIGKILL), 0);
  EXPECT_EQ(await_report(1).cause, FailureCause::lost);
  EXPECT_EQ(await_report(2).cause, FailureCause::lost);
  // Never started: given back, to be handed over again.
  ASSERT_TRUE(poll_until([&] { return returned_.size() == 2; }));
  EXPECT_THAT(returned_, ElementsAre(Pair(3, 1), Pair(4, 1)));
  for (const char* name : {"one", "two", "daemon"}) {
    EXPECT_FALSE(is_alive(static_cast<pid_t>(number_in(name)))) << name;
  }
  EXPECT_NE(agent_pid(), old_agent);
  EXPECT_EQ(notices_.size(), 1U);
  start(5, sh("echo on"));
  EXPECT_EQ(await_report(5).out.text, "on\n");
}

TEST_F(LauncherCrashTest, AcknowledgingAReportOfADeadAgentDoesNotTouchTheNextOnes) {
  start(1, sh("echo one"));
  await_report(1);
  const auto old_receipt = last_receipt_;
  start(2, sleeper("two"));
  ASSERT_TRUE(await_file("two"));
  ASSERT_EQ(::kill(agent_pid(), SIGKILL), 0);
  EXPECT_EQ(await_report(2).cause, FailureCause::lost);
  launcher_->acknowledge(kHost, old_receipt);
  start(3, sh("exit 0"));
  await_report(3);
  abandon();
  open();
  ASSERT_TRUE(poll_until([&] { return reports_.size() == 3; }));  // all of them again
}

TEST_F(LauncherCrashTest, AgentAndGantryKilledTogetherLoseNoReport) {
  start(1, sh("echo kept"));
  await_report(1);
  start(2, sleeper("two"));
  ASSERT_TRUE(await_file("two"));
  const pid_t agent = agent_pid();
  abandon();
  ASSERT_EQ(::kill(agent, SIGKILL), 0);
  open();
  ASSERT_TRUE(poll_until([&] { return reports_.size() == 2; }));
  EXPECT_EQ(reports_[1].report.out.text, "kept\n");
  EXPECT_EQ(reports_[2].report.cause, FailureCause::lost);
  EXPECT_FALSE(is_alive(static_cast<pid_t>(number_in("two"))));
}

TEST_F(LauncherCrashTest, AKilledSlotProcessLosesItsTaskOnly) {
  start(1, sleeper("one"));
  start(2, sh("setsid sh -c 'echo $$ > daemon.tmp; mv daemon.tmp daemon; exec sleep 1000' &"
              " while [ ! -e daemon ]; do sleep 0.02; done;"
              " echo $PPID > slot.tmp; mv slot.tmp slot; sleep 1000"));
  ASSERT_TRUE(await_file("one") && await_file("slot"));
  ASSERT_EQ(::kill(static_cast<pid_t>(number_in("slot")), SIGKILL), 0);
  const auto& lost = await_report(2);
  EXPECT_EQ(lost.cause, FailureCause::lost);
  EXPECT_FALSE(is_alive(static_cast<pid_t>(number_in("daemon"))));
  EXPECT_FALSE(reports_.contains(1));
  start(3, sh("echo again"));
  EXPECT_EQ(await_report(3).out.text, "again\n");
  let_go();
  EXPECT_EQ(await_report(1).cause, FailureCause::none);
  EXPECT_THAT(notices_, IsEmpty());
}

TEST_F(LauncherCrashTest, ATaskOfWhichNoRecordIsLeftIsLost) {
  start(1, sleeper("one"));
  ASSERT_TRUE(await_running(1) && await_file("one"));
  std::filesystem::remove(site_.state_dir / "agent/slot-0.log");
  ASSERT_EQ(::kill(agent_pid(), SIGKILL), 0);
  EXPECT_EQ(await_report(1).cause, FailureCause::lost);
  EXPECT_FALSE(is_alive(static_cast<pid_t>(number_in("one"))));
}

TEST_F(LauncherCrashTest, WhatEndedKeepsItsEndThroughManyKillsOfTheAgent) {
  // Tasks append their number to a file; the agent is killed again and again, and tasks without a
  // success get another attempt. A report may come again, but never with another end, and a task
  // that succeeded has run once more for each attempt that was lost at most.
  constexpr unsigned kTasks = 40;
  const auto succeeded = [&](unsigned n) {
    return std::any_of(causes_.begin(), causes_.end(), [&](const auto& entry) {
      return entry.first.task == TaskId(n) && entry.second[0] == FailureCause::none;
    });
  };
  for (unsigned attempt = 1; attempt <= 5; ++attempt) {
    std::vector<TaskKey> handed_over;
    returned_.clear();
    for (unsigned n = 1; n <= kTasks; ++n) {
      if (succeeded(n)) continue;
      handed_over.push_back({RunId(1), TaskId(n), AttemptId(attempt)});
      launcher_->start({handed_over.back(),
                        kHost,
                        sh("sleep 0.01; echo $GANTRY_TASK >> ran"),
                        {},
                        dir_.path().string()});
    }
    const auto reported = [&](const TaskKey& k) { return causes_.contains(k); };
    const auto reports = [&] {
      return static_cast<std::size_t>(
          std::count_if(handed_over.begin(), handed_over.end(), reported));
    };
    if (attempt < 5) {
      ASSERT_TRUE(
          poll_until([&] { return reports() >= std::min<std::size_t>(4, handed_over.size()); }));
      ASSERT_EQ(::kill(agent_pid(), SIGKILL), 0);
    }
    ASSERT_TRUE(poll_until([&] { return reports() + returned_.size() >= handed_over.size(); }));
    acknowledge_all();
  }
  std::map<unsigned, unsigned> lost;
  for (const auto& [k, causes] : causes_) {
    for (const auto cause : causes) EXPECT_EQ(cause, causes[0]) << k.task.value();
    if (causes[0] == FailureCause::lost) ++lost[k.task.value()];
  }
  std::istringstream ran(read_file(dir_ / "ran").value());
  std::map<unsigned, unsigned> times;
  for (unsigned n = 0; ran >> n;) ++times[n];
  for (unsigned n = 1; n <= kTasks; ++n) {
    EXPECT_TRUE(succeeded(n)) << n;
    EXPECT_GE(times[n], 1U) << n;
    EXPECT_LE(times[n], 1 + lost[n]) << n;
  }
}

}  // namespace
}  // namespace gantry
