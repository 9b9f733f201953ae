#include "actuate/launch/local/local_launcher.hpp"

#include <gmock/gmock.h>
#include <signal.h>

#include <cerrno>
#include <cstdlib>

#include "actuate/launch/local/launcher_fixture.hpp"

namespace gantry {
namespace {

using ::testing::HasSubstr;

class LocalLauncherTest : public LauncherTest {
 protected:
  void SetUp() override { open(); }
};

TEST_F(LocalLauncherTest, ReportsSuccessWithOutputTimesAndFingerprint) {
  const Fingerprint fingerprint{{1, 2}, {3, 4}, {5, 6}};
  start(1, sh("echo result; echo trouble >&2"), fingerprint);
  const auto& report = await_report(1);
  EXPECT_EQ(report.key, key(1));
  EXPECT_EQ(report.cause, FailureCause::none);
  EXPECT_EQ(report.out.text, "result\n");
  EXPECT_EQ(report.out.size, 7U);
  EXPECT_EQ(report.err.text, "trouble\n");
  EXPECT_TRUE(report.out.pack.empty());
  EXPECT_LE(report.started, report.ended);
  EXPECT_GT(report.usage.max_rss, 0U);
  EXPECT_EQ(reports_[1].fingerprint, fingerprint);
  ASSERT_EQ(hosts_.size(), 1U);
  EXPECT_EQ(hosts_[0].cores, 2U);
}

TEST_F(LocalLauncherTest, TellsExitCodesAndSignals) {
  const auto failed = run(sh("exit 37"));
  EXPECT_EQ(failed.cause, FailureCause::exit_code);
  EXPECT_EQ(failed.code, 37);
  const auto killed = run(sh("kill -SEGV $$"));
  EXPECT_EQ(killed.cause, FailureCause::signal);
  EXPECT_EQ(killed.code, SIGSEGV);
}

// The thread sanitizer makes a fork of every vfork, and a forked child cannot tell its failure
// through memory.
#ifndef __SANITIZE_THREAD__
TEST_F(LocalLauncherTest, TellsWhyAProgramDidNotStart) {
  const auto missing = run(task({"no-such-program-here"}));
  EXPECT_EQ(missing.cause, FailureCause::start_failed);
  EXPECT_EQ(missing.code, ENOENT);
  EXPECT_THAT(missing.detail, HasSubstr("no-such-program-here"));

  ASSERT_TRUE(write_file_atomic(dir_ / "plain.txt", "echo\n"));
  const auto denied = run(task({(dir_ / "plain.txt").string()}));
  EXPECT_EQ(denied.cause, FailureCause::start_failed);
  EXPECT_EQ(denied.code, EACCES);

  Task nowhere = sh("true");
  nowhere.workdir = dir_ / "missing";
  const auto no_directory = run(nowhere);
  EXPECT_EQ(no_directory.cause, FailureCause::start_failed);
  EXPECT_EQ(no_directory.code, ENOENT);
  EXPECT_THAT(no_directory.detail, HasSubstr((dir_ / "missing").string()));

  const auto zero = run(task({"/bin/echo", std::string("a\0b", 3)}));
  EXPECT_EQ(zero.cause, FailureCause::start_failed);
  EXPECT_EQ(zero.code, EINVAL);
}

TEST_F(LocalLauncherTest, RefusesWhatIsTooLongForTheKernelOrForAMessage) {
  const auto kernel = run(task({"/bin/true", std::string(200'000, 'x')}));  // one word: 128 KiB
  EXPECT_EQ(kernel.cause, FailureCause::start_failed);
  EXPECT_EQ(kernel.code, E2BIG);
  const auto message = run(task({"/bin/true", std::string(std::size_t{65} << 20, 'x')}));
  EXPECT_EQ(message.cause, FailureCause::start_failed);
  EXPECT_EQ(message.code, E2BIG);
  EXPECT_EQ(run(sh("exit 0")).cause, FailureCause::none);
  EXPECT_TRUE(notices_.empty()) << notices_[0];  // the agent lives
}
#endif

TEST_F(LocalLauncherTest, PassesArgumentsExactly) {
  const std::vector<std::string> hostile = {
      "",      "$(touch owned)",         "; rm -rf /", "a\nb\t'\"\\", "--", "-n", "\xff\xfe",
      "../..", std::string(100'000, 'v')};
  std::vector<std::string> argv = {"/usr/bin/printf", "%s|"};
  argv.insert(argv.end(), hostile.begin(), hostile.end());
  std::string expected;
  for (const auto& word : hostile) expected += word + "|";
  const auto report = run(task(argv));
  ASSERT_EQ(report.cause, FailureCause::none) << report.detail;
  EXPECT_EQ(report.out.size, expected.size());
  const auto whole = read_file(site_.state_dir / "output" / report.out.pack);
  ASSERT_TRUE(whole);
  EXPECT_EQ(whole->substr(report.out.offset, report.out.size), expected);
}

TEST_F(LocalLauncherTest, RunsInTheWorkingDirectoryWhichItMakesWhenAsked) {
  Task t = sh("pwd");
  t.workdir = dir_ / "deep/down";
  t.make_workdir = true;
  EXPECT_EQ(run(t).out.text, (dir_ / "deep/down\n").string());
}

TEST_F(LocalLauncherTest, NamesAMissingOutputAndDoesNotTakeAnOldOneForIt) {
  Task t = sh("exit 0");
  t.outputs = {dir_ / "results/out.dat"};
  std::filesystem::create_directories(dir_ / "results");
  ASSERT_TRUE(write_file_atomic(dir_ / "results/out.dat", "of an earlier attempt"));
  std::this_thread::sleep_for(std::chrono::milliseconds(40));  // file times are coarse
  const auto missing = run(t);
  EXPECT_EQ(missing.cause, FailureCause::missing_output);
  EXPECT_EQ(missing.detail, (dir_ / "results/out.dat").string() +
                                " was there before and the task did not write it");
  t.argv = sh("echo new > results/out.dat").argv;
  EXPECT_EQ(run(t).cause, FailureCause::none);
}

TEST_F(LocalLauncherTest, BringsTheResultFilesBack) {
  Task t = sh("echo 42 > answer.json");
  t.collect = {dir_ / "answer.json", dir_ / "missing.csv"};
  const auto report = run(t);
  EXPECT_EQ(report.cause, FailureCause::none);
  ASSERT_EQ(report.collected.size(), 1U);
  EXPECT_EQ(report.collected[0].first, (dir_ / "answer.json").string());
  EXPECT_EQ(report.collected[0].second, "42\n");
}

TEST_F(LocalLauncherTest, SurvivesMoreResultFilesThanAMessageHolds) {
  Task t = sh("for i in $(seq 100); do head -c 1000000 /dev/zero > part$i; done");
  for (int i = 1; i <= 100; ++i) t.collect.push_back(dir_ / ("part" + std::to_string(i)));
  const auto report = run(t);
  EXPECT_EQ(report.cause, FailureCause::none);
  EXPECT_GT(report.collected.size(), 10U);
  EXPECT_LT(report.collected.size(), 100U);
}

TEST_F(LocalLauncherTest, CancelsWhatRunsAndWhatWaits) {
  start(1, sh("touch a; sleep 1000"));
  start(2, sh("touch b; sleep 1000"));
  start(3, sh("touch c"));
  ASSERT_TRUE(await_file("a"));
  ASSERT_TRUE(await_file("b"));
  launcher_->cancel(key(3), kHost);
  launcher_->cancel(key(1), kHost);
  EXPECT_EQ(await_report(3).cause, FailureCause::cancelled);
  EXPECT_EQ(await_report(1).cause, FailureCause::cancelled);
  EXPECT_FALSE(reports_.contains(2));
  EXPECT_FALSE(std::filesystem::exists(dir_ / "c"));
  launcher_->cancel(key(2), kHost);
  EXPECT_EQ(await_report(2).cause, FailureCause::cancelled);
}

TEST_F(LocalLauncherTest, ACancelThatComesTogetherWithItsTaskIsNotLost) {
  for (unsigned n = 1; n <= 50; ++n) {
    start(n, sh("sleep 1000"));
    launcher_->cancel(key(n), kHost);
  }
  for (unsigned n = 1; n <= 50; ++n) {
    EXPECT_EQ(await_report(n).cause, FailureCause::cancelled) << n;
  }
}

TEST_F(LocalLauncherTest, GivesBackOnRecallWhatHasNotStarted) {
  start(1, sh("sleep 1000"));
  start(2, sh("sleep 1000"));
  start(3, sh("touch c"));
  start(4, sh("touch d"));
  ASSERT_TRUE(await_running(1) && await_running(2));
  launcher_->recall(kHost, {});
  ASSERT_TRUE(poll_until([&] { return returned_.size() == 2; }));
  EXPECT_EQ(returned_[3], 1);
  EXPECT_EQ(returned_[4], 1);
  launcher_->cancel(key(1), kHost);
  launcher_->cancel(key(2), kHost);
  await_report(1);
  await_report(2);
  EXPECT_FALSE(std::filesystem::exists(dir_ / "c"));
}

TEST_F(LocalLauncherTest, TasksSeeTheirNumbersParametersAndEnvironment) {
  Task t = sh("echo $GANTRY_RUN $GANTRY_TASK $GANTRY_ATTEMPT \"$GANTRY_PARAM_geom\" $EXTRA");
  t.parameters = {{"geom", "a b"}};
  t.environment = {{"EXTRA", "more"}};
  launcher_->start({{RunId(7), TaskId(9), AttemptId(3)}, kHost, t, {}, dir_.path().string()});
  EXPECT_EQ(await_report(9).out.text, "7 9 3 a b more\n");
}

TEST_F(LocalLauncherTest, ATasksOwnEnvironmentReplacesTheCommonOne) {
  const auto home = run(sh("echo $HOME"));
  const char* ours = std::getenv("HOME");
  EXPECT_EQ(home.out.text, std::string(ours != nullptr ? ours : "") + "\n");
  Task t = task({"/usr/bin/env"});
  t.environment = {{"HOME", "/elsewhere"}};
  const auto text = run(t).out.text;
  EXPECT_THAT(text, HasSubstr("\nHOME=/elsewhere\n"));
  EXPECT_EQ(text.find("\nHOME="), text.rfind("\nHOME="));
}

TEST_F(LocalLauncherTest, ProgramsAreFoundInTheTasksOwnPath) {
  std::filesystem::create_directories(dir_ / "bin");
  ASSERT_TRUE(write_file_atomic(dir_ / "bin/tool", "#!/bin/sh\necho found\n"));
  std::filesystem::permissions(dir_ / "bin/tool", std::filesystem::perms::owner_all);
  Task t = task({"tool"});
  EXPECT_EQ(run(t).cause, FailureCause::start_failed);
  t.environment = {{"PATH", (dir_ / "bin").string()}};
  EXPECT_EQ(run(t).out.text, "found\n");
  t.environment = {{"PATH", "bin"}};  // relative to the task's directory, not to the agent's
  EXPECT_EQ(run(t).out.text, "found\n");
  std::filesystem::rename(dir_ / "bin", dir_ / "bin2");
  t.environment = {{"PATH", (dir_ / "bin").string() + ":" + (dir_ / "bin2").string()}};
  EXPECT_EQ(run(t).out.text, "found\n");
}

TEST_F(LocalLauncherTest, TasksGetNoDescriptorsSignalsOrTerminalOfOurs) {
  const auto fds = run(sh("ls /proc/self/fd | tr '\\n' ' '"));
  // ls itself opens the directory, as 3.
  EXPECT_EQ(fds.out.text, "0 1 2 3 ");
  const auto signals = run(sh("grep SigBlk /proc/self/status; grep SigIgn /proc/self/status"));
  ASSERT_EQ(signals.out.text.substr(0, 33), "SigBlk:\t0000000000000000\nSigIgn:\t");
  // Signals 32 and 33 belong to the C library, and are as whoever called us left them.
  const auto ignored = std::strtoull(signals.out.text.c_str() + 33, nullptr, 16);
  EXPECT_EQ(ignored & ~(std::uint64_t{3} << 31), 0U);
  EXPECT_EQ(run(sh("cat; exec 3</dev/tty")).cause, FailureCause::exit_code);
}

}  // namespace
}  // namespace gantry
