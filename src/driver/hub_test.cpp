#include "driver/hub.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include "driver/hub_fixture.hpp"
#include "store/faulty_disk.hpp"

namespace gantry::driver {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

/// A moment passes whenever somebody looks at it.
class HastyClock final : public Clock {
 public:
  [[nodiscard]] TimePoint now() const override { return now_ += std::chrono::milliseconds(100); }

 private:
  mutable TimePoint now_ = RealClock{}.now();
};

TEST_F(HubTest, RunsEveryTaskAndAcknowledgesWhatIsJournalled) {
  FakeLauncher launcher;
  const auto summary = drive_with(launcher, sweep({"echo", "{}", ":::", "a", "b", "c"}));
  EXPECT_EQ(summary.counts.done, 3U);
  EXPECT_EQ(summary.executed, 3U);
  EXPECT_EQ(launcher.acknowledged, 3U);
  EXPECT_THAT(rows(summary.run), SizeIs(3));
}

TEST_F(HubTest, TellsWhatComesOfATaskWhoseAttemptFailed) {
  write("sweep.yaml",
        "command: echo {x}\nparameters: {x: [1]}\nretries: {count: 1, backoff: 10ms}\n");
  std::vector<AfterEnd> told;
  observer_.ended = [&](const AttemptEnded&, AfterEnd after) { told.push_back(after); };
  FakeLauncher failing;
  failing.outcome = [](const Task&, AttemptReport& report) {
    report.cause = FailureCause::exit_code;
  };
  drive_with(failing, Application(spec::load_sweep((dir_ / "sweep.yaml").string()).value().sweep));
  EXPECT_THAT(told, ElementsAre(AfterEnd::again, AfterEnd::over));

  write("sweep.yaml", "command: echo {x}\nparameters: {x: [1]}\nresources: {memory: learn}\n");
  told.clear();
  FakeLauncher small;
  small.announce(HostUp{{HostId(2), "large", 1, std::uint64_t{8} << 30U, kHome}});
  small.outcome = [&](const Task&, AttemptReport& report) {
    if (told.empty()) report.cause = FailureCause::out_of_memory;
  };
  drive_with(small, Application(spec::load_sweep((dir_ / "sweep.yaml").string()).value().sweep));
  EXPECT_THAT(told, ElementsAre(AfterEnd::again_noted, AfterEnd::over));
}

TEST_F(HubTest, DrivesSeveralStudiesAtOnce) {
  FakeLauncher launcher;
  Application one = sweep({"echo", "{}", ":::", "a", "b", "c"});
  Application two = sweep({"printf", "{}", ":::", "x", "y"});
  const auto summaries = drive_all(launcher, {{one, source_}, {two, source_, 2}});
  ASSERT_THAT(summaries, SizeIs(2));
  EXPECT_NE(summaries[0].run, summaries[1].run);
  EXPECT_EQ(summaries[0].counts.done, 3U);
  EXPECT_EQ(summaries[1].counts.done, 2U);
  EXPECT_EQ(summaries[0].executed, 3U);
  EXPECT_EQ(summaries[1].executed, 2U);
  EXPECT_THAT(rows(summaries[0].run), SizeIs(3));
  EXPECT_THAT(rows(summaries[1].run), SizeIs(2));
  auto store = open_store();
  for (const Summary& summary : summaries)
    EXPECT_EQ(store.run(summary.run).value()->state, store::RunState::finished);
}

TEST_F(HubTest, ARunThatEndsFirstTookNoLongerThanItRan) {
  Application quick = sweep({"echo", "{}", ":::", "a"});
  Application slow = sweep({"printf", "{}", ":::", "a"});
  FakeLauncher launcher;
  launcher.outcome = [&](const Task& task, AttemptReport&) {
    launcher.hold = task.argv.front() == "printf";
  };
  int looks = 0;
  observer_.progress = [&](const Progress&) {
    if (launcher.started.size() < 2 || ++looks != 6) return;
    AttemptReport made;
    made.key = {RunId(2), TaskId(1), AttemptId(1)};
    launcher.report(std::move(made));
  };
  const auto summaries = drive_all(launcher, {Job{quick, source_}, Job{slow, source_}});
  ASSERT_THAT(summaries, SizeIs(2));
  // Six looks are half a second.
  EXPECT_LT(summaries[0].elapsed + std::chrono::milliseconds(300), summaries[1].elapsed);
}

TEST_F(HubTest, GoesOnWithEachOfSeveralStudies) {
  Application one = sweep({"echo", "{}", ":::", "a", "b"});
  Application two = sweep({"printf", "{}", ":::", "x"});
  FakeLauncher first;
  const auto before = drive_all(first, {{one, source_}, {two, source_}});
  FakeLauncher second;
  const auto after = drive_all(second, {{one, source_}, {two, source_}});
  EXPECT_EQ(after[0].run, before[0].run);
  EXPECT_EQ(after[1].run, before[1].run);
  EXPECT_EQ(after[0].executed + after[1].executed, 0U);
  EXPECT_EQ(after[0].unchanged, 2U);
  EXPECT_EQ(after[1].unchanged, 1U);
}

TEST_F(HubTest, NoTaskWaitsForWhatItsSiteHasAlready) {
  write("f", "content");
  write("sweep.yaml", "command: cat f {x}\nparameters: {x: [1, 2]}\ninputs: [f]\n");
  Application study(spec::load_sweep((dir_ / "sweep.yaml").string()).value().sweep);
  FakeLauncher launcher;
  launcher.site = SiteId(1);
  options_.grid.emplace();
  options_.grid->sites.resize(2);
  EXPECT_EQ(drive_with(launcher, study).counts.done, 2U);
  EXPECT_THAT(launcher.put, ElementsAre((dir_ / "f").string()));

  options_.fresh = true;
  options_.grid->sites[1].staged = {{(dir_ / "f").string(), "/data/f"}};
  FakeLauncher knowing;
  knowing.site = SiteId(1);
  knowing.slow_link = true;
  bool handed_over = false;
  observer_.progress = [&](const Progress&) {
    const auto live =
        store::read_live_text(read_file(store::live_path(options_.state_dir)).value_or(""));
    if (handed_over || !live || live->hosts.empty() || live->hosts[0].tasks.size() < 2) return;
    handed_over = true;  // while the site still looks whether the file is what it should be
    knowing.moved.emplace_back(TransferDone{TransferId(1)});
  };
  EXPECT_EQ(drive_with(knowing, study).counts.done, 2U);
  EXPECT_TRUE(handed_over);
  EXPECT_THAT(knowing.put, ElementsAre((dir_ / "f").string())) << "it looks, and keeps it there";
}

TEST_F(HubTest, ALinkThatIsSilentWhileTasksWaitForFilesIsProbed) {
  write("f", "content");
  write("sweep.yaml", "command: cat f {x}\nparameters: {x: [1, 2]}\ninputs: [f]\n");
  Application study(spec::load_sweep((dir_ / "sweep.yaml").string()).value().sweep);
  const HastyClock clock;
  time_ = &clock;
  FakeLauncher launcher;
  launcher.site = SiteId(1);
  launcher.broken_link = true;  // it is tried more and more seldom, and silent in between
  launcher.moved.emplace_back(LinkEchoed{0.02});
  launcher.on_probe = [&] {
    launcher.moved.emplace_back(LinkEchoed{0.1, launcher.probed.back(), 0.02});
    launcher.broken_link = false;
  };
  options_.grid.emplace();
  options_.grid->sites.resize(2);
  options_.grid->links = {{.from = 0, .to = 1, .bandwidth = 1e5}};
  const TimePoint began = clock.now();
  EXPECT_EQ(drive_with(launcher, study).counts.done, 2U);
  EXPECT_GT(clock.now() - began, kProbeAfter);
  EXPECT_THAT(launcher.probed, ElementsAre(std::uint64_t{20'000}));
}

TEST_F(HubTest, ATaskThatNoHostCanRunWaitsForOneThatWillCome) {
  write("sweep.yaml", "command: echo {x}\nparameters: {x: [1]}\nresources: {cores: 4}\n");
  Application study(spec::load_sweep((dir_ / "sweep.yaml").string()).value().sweep);
  FakeLauncher launcher;  // with a host of two cores
  bool came = false;
  launcher.expects = [&](const Resources& least) {
    if (least.cores == 4 && !std::exchange(came, true))
      launcher.announce(HostUp{{HostId(2), "large", 4, 0}});
    return true;
  };
  EXPECT_EQ(drive_with(launcher, study).counts.done, 1U);
  EXPECT_TRUE(came);

  options_.fresh = true;
  FakeLauncher small;
  small.expects = [](const Resources& least) { return least.cores <= 2; };
  const auto summary = drive_with(small, study);
  EXPECT_EQ(summary.counts.done, 0U);
  EXPECT_THAT(summary.why, ::testing::HasSubstr("task 1 needs 4 cores, the largest host has 2"));
}

TEST_F(HubTest, ASecondCallRunsOnlyWhatHasNotSucceeded) {
  auto study = sweep({"echo", "{}", ":::", "a", "b", "c"});
  FakeLauncher first;
  first.outcome = [](const Task& task, AttemptReport& report) {
    if (task.id == TaskId(2)) report.cause = FailureCause::exit_code, report.code = 7;
  };
  const auto one = drive_with(first, study);
  EXPECT_EQ(one.counts.failed, 1U);

  FakeLauncher second;
  const auto two = drive_with(second, study);
  EXPECT_EQ(two.run, one.run);
  EXPECT_EQ(two.unchanged, 2U);
  EXPECT_THAT(second.started, ElementsAre(TaskKey{one.run, TaskId(2), AttemptId(2)}));
  EXPECT_EQ(two.counts.done, 3U);
}

TEST_F(HubTest, AReportThatComesTwiceCountsOnce) {
  auto study = sweep({"echo", "{}", ":::", "a"});
  FakeLauncher first;
  const auto one = drive_with(first, study);
  FakeLauncher second;
  AttemptReport again;
  again.key = {one.run, TaskId(1), AttemptId(1)};
  again.cause = FailureCause::exit_code;
  second.report(again);
  const auto two = drive_with(second, study);
  EXPECT_EQ(two.counts.done, 1U);
  EXPECT_EQ(two.executed, 0U);
  EXPECT_EQ(second.acknowledged, 1U) << "or the agent would report it for ever";
}

TEST_F(HubTest, WhatRunsIsAdoptedAndNotStartedBesideItsTwin) {
  auto study = sweep({"echo", "{}", ":::", "a", "b"});
  FakeLauncher launcher;
  launcher.announce(AttemptStarted{{RunId(1), TaskId(1), AttemptId(1)}, HostId(1), from_ns(1)});
  AttemptReport late;
  late.key = {RunId(1), TaskId(1), AttemptId(1)};
  launcher.outcome = [&](const Task&, AttemptReport&) {
    launcher.report(late, print_of(study, 1));
  };
  const auto summary = drive_with(launcher, study);
  EXPECT_THAT(launcher.started, ElementsAre(TaskKey{RunId(1), TaskId(2), AttemptId(1)}));
  EXPECT_EQ(summary.counts.done, 2U);
}

TEST_F(HubTest, OfTwoAttemptsOneIsJournalled) {
  auto study = sweep({"echo", "{}", ":::", "a", "b"});
  const auto key = [](std::uint32_t attempt) {
    return TaskKey{RunId(1), TaskId(1), AttemptId(attempt)};
  };
  FakeLauncher launcher;
  launcher.announce(HostUp{{HostId(2), "other", 2, 0}});
  for (const std::uint32_t each : {1U, 2U})
    launcher.announce(AttemptStarted{key(each), HostId(each), from_ns(1)});
  AttemptReport first;
  first.key = key(2);
  launcher.outcome = [&](const Task&, AttemptReport&) {
    launcher.report(first, print_of(study, 1), HostId(2));
  };
  const auto summary = drive_with(launcher, study);
  EXPECT_EQ(summary.counts.done, 2U);
  EXPECT_THAT(launcher.cancelled, ElementsAre(key(1)));
  const auto history = open_store().history(RunId(1), TaskId(1));
  ASSERT_TRUE(history);
  ASSERT_EQ(history->size(), 1U);
  EXPECT_EQ(history->front().report.key.attempt, AttemptId(2));

  // Had gantry been killed before it could cancel the other.
  FakeLauncher later;
  later.announce(HostUp{{HostId(2), "other", 2, 0}});
  later.announce(AttemptStarted{key(1), HostId(2), from_ns(1)});
  const auto again = drive_with(later, study);
  EXPECT_EQ(again.counts.done, 2U);
  EXPECT_THAT(later.cancelled, ElementsAre(key(1)));
  EXPECT_EQ(open_store().history(RunId(1), TaskId(1))->size(), 1U);
}

RemoteFile kept_by(std::uint32_t attempt) {
  const std::string remote = "work/me/kept/1.1." + std::to_string(attempt) + "/out";
  return {"/somewhere/out", "lab", remote, 3, hash_bytes("abc"), "/grid.yaml"};
}

TEST_F(HubTest, OnlyTheOutputsOfTheAttemptThatCountsAreKept) {
  auto study = sweep({"echo", "{}", ":::", "a"});
  options_.grid.emplace();
  options_.grid->sites.resize(2);
  FakeLauncher launcher;
  launcher.site = SiteId(1);
  launcher.outcome = [](const Task&, AttemptReport& report) {
    report.remote_files = {kept_by(report.key.attempt.value())};
  };
  const auto summary = drive_with(launcher, study);
  EXPECT_EQ(summary.counts.done, 1U);
  EXPECT_THAT(launcher.removed, ElementsAre());
  EXPECT_EQ(open_store().remote_output("/somewhere/out").value(), kept_by(1));

  // The same report once more, since nobody heard that it was taken; and that of a late twin.
  FakeLauncher later;
  later.site = SiteId(1);
  for (const std::uint32_t attempt : {1U, 2U}) {
    AttemptReport report;
    report.key = {summary.run, TaskId(1), AttemptId(attempt)};
    report.remote_files = {kept_by(attempt)};
    later.report(report, print_of(study, 1));
  }
  drive_with(later, study);
  EXPECT_THAT(later.removed, ElementsAre("kept/2"));
  EXPECT_EQ(open_store().remote_outputs()->size(), 1U);
}

TEST_F(HubTest, WhatAFailedAttemptHasKeptCanGo) {
  options_.grid.emplace();
  options_.grid->sites.resize(2);
  FakeLauncher launcher;
  launcher.site = SiteId(1);
  launcher.outcome = [](const Task&, AttemptReport& report) {
    report.cause = FailureCause::missing_output;
    report.remote_files = {kept_by(1)};
  };
  drive_with(launcher, sweep({"echo", "{}", ":::", "a"}));
  EXPECT_THAT(launcher.removed, ElementsAre("kept/1"));
  EXPECT_TRUE(open_store().remote_outputs()->empty());
}

TEST_F(HubTest, AnAttemptWhoseTwinFailedIsStillTakenIn) {
  auto study = sweep({"echo", "{}", ":::", "a", "b"});
  const auto report = [](std::uint32_t attempt, FailureCause cause) {
    AttemptReport made;
    made.key = {RunId(1), TaskId(1), AttemptId(attempt)};
    made.cause = cause;
    return made;
  };
  FakeLauncher launcher;
  launcher.announce(HostUp{{HostId(2), "other", 2, 0}});
  for (const std::uint32_t each : {1U, 2U})
    launcher.announce(
        AttemptStarted{{RunId(1), TaskId(1), AttemptId(each)}, HostId(each), from_ns(1)});
  launcher.outcome = [&](const Task&, AttemptReport&) {
    launcher.report(report(2, FailureCause::exit_code), print_of(study, 1), HostId(2));
    launcher.report(report(1, FailureCause::none), print_of(study, 1));
  };
  EXPECT_EQ(drive_with(launcher, study).counts.done, 2U);
  EXPECT_EQ(open_store().history(RunId(1), TaskId(1))->size(), 2U);
  FakeLauncher later;
  EXPECT_EQ(drive_with(later, study).unchanged, 2U);
  EXPECT_TRUE(later.started.empty());
}

TEST_F(HubTest, AReportOfAnotherRunIsKept) {
  FakeLauncher first;
  first.outcome = [](const Task& task, AttemptReport& report) {
    if (task.id == TaskId(2)) report.cause = FailureCause::exit_code;
  };
  const auto one = drive_with(first, sweep({"echo", "{}", ":::", "a", "b"}));

  FakeLauncher second;
  AttemptReport late;
  late.key = {one.run, TaskId(2), AttemptId(2)};
  second.report(late);
  options_.reload = [&](const store::RunRecord&) -> Result<Application> {
    return sweep({"echo", "{}", ":::", "a", "b"});
  };
  const auto two = drive_with(second, sweep({"printf", "{}", ":::", "x"}));
  EXPECT_NE(two.run, one.run);
  EXPECT_EQ(second.acknowledged, 2U);
  const auto old_rows = rows(one.run);
  ASSERT_THAT(old_rows, SizeIs(2));
  EXPECT_EQ(old_rows[1].attempt, AttemptId(2));
  EXPECT_EQ(old_rows[1].cause, FailureCause::none);
  EXPECT_THAT(old_rows[1].parameters, SizeIs(1));
}

TEST_F(HubTest, AnOutputThatCannotBePutInItsPlaceYetIsNoFailure) {
  write("sweep.yaml", "command: make {x}\nparameters: {x: [a]}\noutputs: ['new/{x}']\n");
  Application study(spec::load_sweep((dir_ / "sweep.yaml").string()).value().sweep);
  write("new", "a file where a folder should be");
  write("come", "result");
  FakeLauncher launcher;
  launcher.hold = true;
  launcher.outcome = [&](const Task&, AttemptReport& report) {
    ReportReceived received{report, print_of(study, 1), HostId(1), 7};
    received.outputs = {{(dir_ / "come").string(), (dir_ / "new/a").string()}};
    launcher.announce(received);
  };
  std::vector<std::string> notices;
  observer_.notice = [&](const std::string& text) { notices.push_back(text); };
  bool mended = false;
  observer_.progress = [&](const Progress& progress) {
    if (notices.empty() || progress.elapsed < std::chrono::milliseconds(1500)) return;
    if (std::exchange(mended, true)) return;
    EXPECT_EQ(launcher.acknowledged, 0U) << "its agent must keep it";
    std::filesystem::remove(dir_ / "new");
  };
  EXPECT_EQ(drive_with(launcher, study).counts.done, 1U);
  EXPECT_EQ(launcher.acknowledged, 7U);
  EXPECT_THAT(notices, SizeIs(1));
  EXPECT_EQ(read_file(dir_ / "new/a").value_or(""), "result");
}

TEST_F(HubTest, NobodyWaitsForAnotherRunsTaskWhoseHostIsGone) {
  FakeLauncher first;
  first.outcome = [](const Task&, AttemptReport& report) {
    report.cause = FailureCause::exit_code;
  };
  const auto one = drive_with(first, sweep({"echo", "{}", ":::", "a"}));
  options_.reload = [&](const store::RunRecord&) -> Result<Application> {
    return sweep({"echo", "{}", ":::", "a"});
  };
  FakeLauncher second;
  second.announce(HostUp{{HostId(2), "far", 2, 0}});
  second.announce(AttemptStarted{{one.run, TaskId(1), AttemptId(2)}, HostId(2), from_ns(1)});
  int looks = 0;
  observer_.waiting = [&](std::uint32_t tasks, Duration) {
    EXPECT_EQ(tasks, 1U);
    if (++looks == 2) second.announce(HostDown{HostId(2), "gone"});
  };
  options_.fresh = true;  // or it would be the same run, with one more task
  EXPECT_EQ(drive_with(second, sweep({"echo", "{}", ":::", "a", "b"})).counts.done, 2U);
  EXPECT_EQ(looks, 2);
}

TEST_F(HubTest, ARequestOfAnEarlierSessionIsDropped) {
  auto study = sweep({"echo", "{}", ":::", "a", "b"});
  ASSERT_TRUE(open_store().post({0, RunId(1), true, {}}));
  FakeLauncher launcher;
  launcher.hold = true;
  int turns = 0;
  observer_.progress = [&](const Progress&) {
    if (++turns < 4) return;  // long enough to take requests
    launcher.hold = false;
    for (const auto& key : std::exchange(launcher.started, {}))
      launcher.start(
          {key, HostId(1), study.task(key.task), print_of(study, key.task.value()), dir_.string()});
  };
  const auto summary = drive_with(launcher, study);
  EXPECT_EQ(summary.counts.done, 2U);
  EXPECT_THAT(launcher.cancelled, SizeIs(0));
}

TEST_F(HubTest, AnotherRunsResultsAreReusedUnlessFresh) {
  FakeLauncher first;
  drive_with(first, sweep({"echo", "{}", ":::", "a", "b"}));
  FakeLauncher second;
  const auto grown = drive_with(second, sweep({"echo", "{}", ":::", "a", "b", "c"}));
  EXPECT_EQ(grown.counts.reused, 2U);
  EXPECT_THAT(second.started, SizeIs(1));
  FakeLauncher third;
  options_.fresh = true;
  drive_with(third, sweep({"echo", "{}", ":::", "a", "b", "c"}));
  EXPECT_THAT(third.started, SizeIs(3));
}

TEST_F(HubTest, AChangedProgramIsRunAgain) {
  write("prog", "#!/bin/sh\n");
  auto study = sweep({"./prog", "{}", ":::", "a", "b"});
  FakeLauncher first;
  drive_with(first, study);
  FakeLauncher second;
  drive_with(second, study);
  EXPECT_THAT(second.started, SizeIs(0));
  write("prog", "#!/bin/sh\nexit 0\n");
  FakeLauncher third;
  const auto summary = drive_with(third, study);
  EXPECT_THAT(third.started, SizeIs(2));
  auto history = open_store().history(summary.run, TaskId(1));
  ASSERT_TRUE(history);
  ASSERT_THAT(*history, SizeIs(3));
  EXPECT_EQ((*history)[1].text, "an input or the program changed: prog");
}

TEST_F(HubTest, ARetryDoesNotWaitForAnAgentWhoseClockIsAhead) {
  auto study = spec::parse_sweep("command: echo\nretries: {count: 1, backoff: 10 ms}\n", "s", dir_);
  ASSERT_TRUE(study) << study.error().message;
  FakeLauncher launcher;
  const TimePoint ahead = clock_.now() + std::chrono::hours(1);
  launcher.outcome = [&](const Task&, AttemptReport& report) {
    report.started = report.ended = ahead;
    if (report.key.attempt == AttemptId(1)) report.cause = FailureCause::exit_code;
  };
  const auto summary = drive_with(launcher, Application(std::move(study->sweep)));
  EXPECT_EQ(summary.counts.done, 1U);
  EXPECT_LT(summary.elapsed, Duration(std::chrono::minutes(1)));
  EXPECT_EQ(rows(summary.run)[0].ended, ahead) << "the journal says what the agent said";
}

TEST_F(HubTest, ATaskMayEndBeforeItStartedWhenSomebodySetsTheClockBack) {
  FakeLauncher launcher;
  const TimePoint started = clock_.now();
  const TimePoint ended = started - std::chrono::hours(1);
  launcher.outcome = [&](const Task& task, AttemptReport& report) {
    report.started = started;
    report.ended = ended;
    if (task.id == TaskId(2)) report.cause = FailureCause::exit_code;
  };
  const auto summary = drive_with(launcher, sweep({"echo", "{}", ":::", "a", "b", "c"}));
  EXPECT_EQ(summary.counts.done, 2U);
  EXPECT_EQ(summary.counts.failed, 1U);
  EXPECT_GE(summary.elapsed, Duration(0));
  EXPECT_EQ(rows(summary.run)[0].ended, ended) << "the journal says what the agent said";
}

TEST_F(HubTest, WhatWaitsIsTakenBackWhileTheJournalCannotBeWritten) {
  store::FaultyDisk disk;
  FakeLauncher launcher;
  int recalls = 0;
  launcher.outcome = [&](const Task& task, AttemptReport&) {
    if (task.id == TaskId(1)) disk.allow(0);
  };
  launcher.on_recall = [&] {
    ++recalls;
    disk.heal();
  };
  const auto summary = drive_with(launcher, sweep({"echo", "{}", ":::", "1..50"}));
  EXPECT_EQ(recalls, 1);
  EXPECT_EQ(summary.counts.done, 50U);
}

TEST_F(HubTest, ARunWhoseLastHostWasGivenUpEndsAndSaysWhy) {
  FakeLauncher launcher;
  launcher.outcome = [&](const Task& task, AttemptReport&) {
    if (task.id != TaskId(2)) return;
    launcher.hold = launcher.given_up = true;
    launcher.announce(HostDown{HostId(1), "its jobs end before they can be used"});
  };
  const auto summary = drive_with(launcher, sweep({"echo", "{}", ":::", "a", "b", "c"}));
  EXPECT_EQ(summary.counts.done, 1U);
  EXPECT_EQ(summary.counts.failed, 0U);
  EXPECT_EQ(summary.why, "no host is left, and none will come");
}

TEST_F(HubTest, AnOutputThatWasCutIsCounted) {
  FakeLauncher launcher;
  launcher.outcome = [](const Task& task, AttemptReport& report) {
    report.out = {100'000, "the end", "", 0, task.id != TaskId(2)};
  };
  EXPECT_EQ(drive_with(launcher, sweep({"echo", "{}", ":::", "a", "b", "c"})).cut, 2U);
}

TEST_F(HubTest, OutputThatCannotBeReadIsNamedAsTheReason) {
  const std::string text =
      "command: echo {i}\nparameters: {i: [1]}\nresults: {e: {stdout: 'e=(.*)'}}\n";
  auto study = spec::parse_sweep(text, "s.yaml", dir_);
  ASSERT_TRUE(study) << study.error().message;
  FakeLauncher launcher;
  launcher.outcome = [](const Task&, AttemptReport& report) {
    report.out.size = 100'000;
    report.out.pack = "run-1/slot-0.out";  // nobody wrote it
  };
  const auto summary = drive_with(launcher, Application(std::move(study->sweep)));
  const auto all = rows(summary.run);
  ASSERT_THAT(all, SizeIs(1));
  EXPECT_EQ(all[0].cause, FailureCause::missing_result);
  EXPECT_THAT(all[0].detail, ::testing::HasSubstr("slot-0.out: No such file"));
}

}  // namespace
}  // namespace gantry::driver
