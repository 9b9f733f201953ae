// Actions that wait until the files they need have been read.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

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

}  // namespace
}  // namespace gantry::driver
