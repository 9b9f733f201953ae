// What a task may take: time, memory, cores; and what becomes of the processes it leaves behind.
#include <gmock/gmock.h>

#include <algorithm>

#include "actuate/launch/local/launcher_fixture.hpp"

namespace gantry {
namespace {

using namespace std::chrono_literals;

class LauncherLimitsTest : public LauncherTest {
 protected:
  void SetUp() override { open(); }

  /// A Python program, as a shell cannot do what we need.
  Task python(const std::string& text) { return task({"/usr/bin/python3", "-c", text}); }
};

TEST_F(LauncherLimitsTest, ATaskPastItsTimeIsTerminated) {
  Task t = sh("trap 'echo asked; exit 0' TERM; touch ready; while :; do sleep 0.05; done");
  t.timeout = 500ms;
  const auto report = run(t);
  EXPECT_EQ(report.cause, FailureCause::timeout);
  // On a busy machine it may not have come as far as to listen.
  const bool listened = std::filesystem::exists(dir_ / "ready");
  EXPECT_EQ(report.out.text, listened ? "asked\n" : "");
}

TEST_F(LauncherLimitsTest, ATaskThatIgnoresThatIsKilled) {
  Task t = sh("trap '' TERM; echo $$ > pid; while :; do sleep 0.05; done");
  t.timeout = 500ms;
  EXPECT_EQ(run(t).cause, FailureCause::timeout);
  const auto pid = static_cast<pid_t>(number_in("pid"));
  EXPECT_FALSE(pid > 0 && is_alive(pid));
}

TEST_F(LauncherLimitsTest, TimeIsUpAlsoForATaskThatPrintsWithoutEnd) {
  Task t = task({"/usr/bin/yes"});
  t.timeout = 300ms;
  const auto report = run(t);
  EXPECT_EQ(report.cause, FailureCause::timeout);
  EXPECT_GT(report.out.size, 0U);
}

TEST_F(LauncherLimitsTest, AskedToEndTheWholeTreeHasTheGrace) {
  // The shell dies of SIGTERM at once; its child needs a moment to save its work.
  site_.grace = 60s;
  close();
  open();
  start(1, sh("sh -c 'trap \"sleep 0.3; touch saved; exit\" TERM; touch ready;"
              " while :; do sleep 0.05; done' & wait"));
  ASSERT_TRUE(await_file("ready"));
  launcher_->cancel(key(1), kHost);
  EXPECT_EQ(await_report(1).cause, FailureCause::cancelled);
  EXPECT_TRUE(std::filesystem::exists(dir_ / "saved"));
}

TEST_F(LauncherLimitsTest, ATaskThatStopsAsForATerminalGoesOn) {
  EXPECT_EQ(run(sh("kill -TSTP 0; kill -TTIN $$; kill -TTOU $$; echo on")).out.text, "on\n");
}

TEST_F(LauncherLimitsTest, AStoppedTaskCanBeCancelled) {
  start(1, sh("echo $$ > pid.tmp; mv pid.tmp pid; kill -STOP $$; sleep 1000"));
  ASSERT_TRUE(await_file("pid"));
  launcher_->cancel(key(1), kHost);
  EXPECT_EQ(await_report(1).cause, FailureCause::cancelled);
  EXPECT_FALSE(is_alive(static_cast<pid_t>(number_in("pid"))));
}

TEST_F(LauncherLimitsTest, MoreMemoryThanDeclaredEndsTheTask) {
  Task t = python(
      "import time\nx = bytearray(300 << 20)\nx[::4096] = b'1' * len(x[::4096])\n"
      "time.sleep(1000)");
  t.resources.memory = std::uint64_t{100} << 20;
  const auto report = run(t);
  EXPECT_EQ(report.cause, FailureCause::out_of_memory);
  EXPECT_EQ(report.detail, "limit 100 MiB");
  EXPECT_EQ(report.memory_limit, t.resources.memory);
}

TEST_F(LauncherLimitsTest, MemoryOfChildrenCountsAndSharedPagesCountOnce) {
  // Four processes share 80 MiB: together still 80, not 320.
  const std::string text =
      "import os, sys, time\nx = bytearray(80 << 20)\nx[::4096] = b'1' * len(x[::4096])\n"
      "for i in range(3):\n  if os.fork() == 0:\n    break\n"
      "if len(sys.argv) > 1: x[::4096] = b'2' * len(x[::4096])\ntime.sleep(0.6)";
  Task shared = python(text);
  shared.resources.memory = std::uint64_t{200} << 20;
  EXPECT_EQ(run(shared).cause, FailureCause::none);
  Task own = shared;
  own.argv.emplace_back("write");
  own.argv[2] += "\ntime.sleep(1000)";
  EXPECT_EQ(run(own).cause, FailureCause::out_of_memory);
}

TEST_F(LauncherLimitsTest, NeverMoreAtOnceThanTheCoresAllow) {
  // Each task counts who is there beside it; the lock directory makes the count exact.
  const std::string script =
      "touch here.$GANTRY_TASK; ls here.* | wc -l >> seen; sleep 0.02; rm here.$GANTRY_TASK";
  for (unsigned n = 1; n <= 30; ++n) start(n, sh(script));
  ASSERT_TRUE(poll_until([&] { return reports_.size() == 30; }));
  const auto seen = read_file(dir_ / "seen");
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->find_first_not_of("12\n"), std::string::npos) << *seen;
  EXPECT_EQ(std::count(seen->begin(), seen->end(), '\n'), 30);
}

TEST_F(LauncherLimitsTest, TasksThatNeedTheWholeMachineRunAlone) {
  const std::string script =
      "touch here.$GANTRY_TASK; ls here.* | wc -l > seen.$GANTRY_TASK; sleep 0.02;"
      " ls here.* | wc -l >> seen.$GANTRY_TASK; rm here.$GANTRY_TASK";
  for (unsigned n = 1; n <= 12; ++n) {
    Task t = sh(script);
    if (n % 3 == 0) t.resources.cores = 2;
    if (n % 3 == 1) t.resources.memory = std::uint64_t{7} << 30;  // of 8: two do not fit
    start(n, t);
  }
  ASSERT_TRUE(poll_until([&] { return reports_.size() == 12; }));
  for (unsigned n = 3; n <= 12; n += 3) {
    EXPECT_EQ(read_file(dir_ / ("seen." + std::to_string(n))).value_or(""), "1\n1\n") << n;
  }
}

TEST_F(LauncherLimitsTest, ATaskLargerThanTheMachineStillRuns) {
  Task t = sh("exit 0");
  t.resources.cores = 64;
  t.resources.memory = std::uint64_t{1} << 50;
  EXPECT_EQ(run(t).cause, FailureCause::none);
}

TEST_F(LauncherLimitsTest, DaemonsDoNotOutliveTheirTaskNorDelayItsEnd) {
  // A classic daemon: its own session, orphaned twice, with the task's output held open.
  start(1, sh("(setsid sh -c '(echo $$ > daemon.tmp; mv daemon.tmp daemon; exec sleep 1000) &')"
              " & while [ ! -e daemon ]; do sleep 0.02; done; echo done"));
  const auto& report = await_report(1);
  EXPECT_EQ(report.cause, FailureCause::none);
  EXPECT_EQ(report.out.text, "done\n");
  const auto daemon = static_cast<pid_t>(number_in("daemon"));
  ASSERT_GT(daemon, 0);
  EXPECT_FALSE(is_alive(daemon));
}

TEST_F(LauncherLimitsTest, DaemonsThatAreStoppedOrIgnoreSignalsGoToo) {
  start(1, python("import os, signal, time\n"
                  "for kind in ('stopped', 'deaf'):\n"
                  "  if os.fork() == 0:\n"
                  "    os.setsid()\n"
                  "    if os.fork(): os._exit(0)\n"
                  "    for s in (signal.SIGTERM, signal.SIGHUP): signal.signal(s, signal.SIG_IGN)\n"
                  "    open(kind + '.tmp', 'w').write(str(os.getpid()))\n"
                  "    os.rename(kind + '.tmp', kind)\n"
                  "    if kind == 'stopped': os.kill(os.getpid(), signal.SIGSTOP)\n"
                  "    time.sleep(1000)\n"
                  "while not (os.path.exists('stopped') and os.path.exists('deaf')):\n"
                  "  time.sleep(0.01)\n"));
  EXPECT_EQ(await_report(1).cause, FailureCause::none) << reports_[1].report.err.text;
  for (const char* kind : {"stopped", "deaf"}) {
    const auto pid = static_cast<pid_t>(number_in(kind));
    ASSERT_GT(pid, 0) << kind;
    EXPECT_FALSE(is_alive(pid)) << kind;
  }
}

}  // namespace
}  // namespace gantry
