// Actions that wait until the files they need have been read.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <deque>

#include "driver/hub_fixture.hpp"

namespace gantry::driver {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

/// A file with holes, which takes a while to read.
void write_large(const std::filesystem::path& path, std::uintmax_t bytes) {
  ASSERT_TRUE(write_file_atomic(path, ""));
  std::filesystem::resize_file(path, bytes);
}

TEST_F(HubTest, OtherTasksStartWhileALargeFileIsRead) {
  write_large(dir_ / "large", 200 << 20);
  write("small", "content");
  write("sweep.yaml", "command: cat {f}\nparameters: {f: [large, small]}\ninputs: ['{f}']\n");
  Application study(spec::load_sweep((dir_ / "sweep.yaml").string()).value().sweep);
  FakeLauncher launcher;
  const auto summary = drive_with(launcher, study);
  EXPECT_EQ(summary.counts.done, 2U);
  ASSERT_THAT(launcher.started, SizeIs(2));
  EXPECT_EQ(launcher.started[0].task, TaskId(2));
  EXPECT_EQ(drive_with(launcher, study).executed, 0U) << "what was read is known";
}

TEST_F(HubTest, AnInterruptDoesNotWaitForALargeFile) {
  write_large(dir_ / "large", std::uintmax_t{1} << 40);  // minutes
  write("sweep.yaml", "command: cat {f}\nparameters: {f: [large]}\ninputs: ['{f}']\n");
  Application study(spec::load_sweep((dir_ / "sweep.yaml").string()).value().sweep);
  FakeLauncher launcher;
  int looks = 0;
  observer_.progress = [&](const Progress&) {
    if (++looks == 3) ::kill(::getpid(), SIGINT);
  };
  const auto summary = drive_with(launcher, study);
  EXPECT_TRUE(summary.interrupted);
  EXPECT_THAT(launcher.started, ElementsAre());
}

TEST_F(HubTest, ALargeInputThatChangedIsReadBeforeTheEndCounts) {
  write_large(dir_ / "large", 200 << 20);
  write("sweep.yaml",
        "command: cat large {x}\nparameters: {x: [1, 2, 3]}\ninputs: [large]\n"
        "resources: {cores: 2}\n");
  Application study(spec::load_sweep((dir_ / "sweep.yaml").string()).value().sweep);
  FakeLauncher launcher;
  launcher.outcome = [&](const Task&, AttemptReport& report) {
    if (report.key.task == TaskId(2)) std::filesystem::resize_file(dir_ / "large", 201 << 20);
  };
  const auto summary = drive_with(launcher, study);
  EXPECT_EQ(summary.counts.done, 3U);
  EXPECT_GE(summary.changed.at((dir_ / "large").string()), 2U) << "the first and the second";
  EXPECT_EQ(launcher.acknowledged, 3U);
}

TEST_F(HubTest, OtherTasksEndWhileTheInputOfAnAdoptedOneIsRead) {
  write_large(dir_ / "large", 400 << 20);
  write("small", "content");
  write("sweep.yaml", "command: cat {f}\nparameters: {f: [large, small]}\ninputs: ['{f}']\n");
  Application study(spec::load_sweep((dir_ / "sweep.yaml").string()).value().sweep);
  AttemptReport adopted;
  adopted.key = {RunId(1), TaskId(1), AttemptId(1)};
  adopted.started = from_ns(1);
  adopted.ended = from_ns(2);
  FakeLauncher launcher;
  launcher.report(adopted, print_of(study, 1));
  write_large(dir_ / "large", 400 << 20);  // the same content in another file: not known yet
  std::vector<TaskId> ended;
  observer_.ended = [&](const AttemptEnded& end, AfterEnd) {
    EXPECT_EQ(launcher.acknowledged, 0U) << "its agent must keep it";
    ended.push_back(end.report.key.task);
  };
  EXPECT_EQ(drive_with(launcher, study).counts.done, 2U);
  EXPECT_THAT(ended, ElementsAre(TaskId(2), TaskId(1)));
  EXPECT_THAT(launcher.started, SizeIs(1)) << "the result still holds";
  EXPECT_EQ(launcher.acknowledged, 2U);
}

/// The second of three reports waits: its input has become another one, which takes minutes to
/// read.
TEST_F(HubTest, OneRunDoesNotWaitForTheInputsOfAnother) {
  write_large(dir_ / "large", 100 << 20);
  write("slow.yaml", "command: cat large {x}\nparameters: {x: [1, 2]}\ninputs: [large]\n");
  Application slow(spec::load_sweep((dir_ / "slow.yaml").string()).value().sweep);
  Application quick = sweep({"echo", "{}", ":::", "a", "b"});
  const auto key_of = [](std::uint32_t run, std::uint32_t task) {
    return TaskKey{RunId(run), TaskId(task), AttemptId(1)};
  };
  std::deque<TaskKey> ends{key_of(2, 1), key_of(1, 1), key_of(2, 2), key_of(1, 2)};
  FakeLauncher launcher;
  launcher.hold = true;
  bool quick_has_ended = false;
  int looks = 0;
  observer_.progress = [&](const Progress&) {
    if (ends.size() == 1 && !quick_has_ended) {
      quick_has_ended = rows(RunId(2)).size() == 2;
      if (!quick_has_ended && ++looks < 100) return;
      EXPECT_THAT(rows(RunId(1)), SizeIs(0));
      EXPECT_EQ(open_store().run(RunId(2)).value()->state, store::RunState::finished);
      EXPECT_EQ(launcher.acknowledged, 1U) << "what comes after one that waits is kept as well";
      std::filesystem::resize_file(dir_ / "large", 1);
    }
    if (ends.empty() || std::ranges::find(launcher.started, ends.front()) == launcher.started.end())
      return;
    if (ends.front() == key_of(1, 1)) std::filesystem::resize_file(dir_ / "large", 1ULL << 40);
    AttemptReport made;
    made.key = ends.front();
    made.started = from_ns(1);
    made.ended = from_ns(2);
    launcher.report(std::move(made));
    ends.pop_front();
  };
  const auto summaries = drive_all(launcher, {Job{slow, source_}, Job{quick, source_}});
  EXPECT_TRUE(quick_has_ended);
  EXPECT_EQ(summaries[0].counts.done, 2U);
  EXPECT_GE(summaries[0].changed.at((dir_ / "large").string()), 1U);
  EXPECT_EQ(launcher.acknowledged, 4U);
}

/// A folder that two studies share, of which one writes into it.
TEST_F(HubTest, ASiteGetsAllThatAnyStudyReadsInAFolder) {
  std::filesystem::create_directories(dir_ / "data");
  write("data/in", "1");
  write("data/out-1", "from before");
  const auto study = [&](const std::string& name, const std::string& more) {
    write(name, "command: " + name + " {x}\nparameters: {x: [1, 2]}\ninputs: [data]\n" + more);
    return Application(spec::load_sweep((dir_ / name).string()).value().sweep);
  };
  Application writer = study("writer", "outputs: ['data/out-{x}']\n");
  Application reader = study("reader", "");
  options_.grid.emplace();
  options_.grid->sites.resize(2);
  const std::string in = (dir_ / "data/in").string();
  const std::string out = (dir_ / "data/out-1").string();
  FakeLauncher alone;
  alone.site = SiteId(1);
  EXPECT_EQ(drive_with(alone, writer).counts.done, 2U);
  EXPECT_THAT(alone.put, ElementsAre(in));
  FakeLauncher both;
  both.site = SiteId(1);
  options_.fresh = true;
  const auto done = drive_all(both, {Job{writer, source_}, Job{reader, source_}});
  EXPECT_EQ(done[0].counts.done + done[1].counts.done, 4U);
  EXPECT_THAT(both.put, ElementsAre(in, out));
}

}  // namespace
}  // namespace gantry::driver
