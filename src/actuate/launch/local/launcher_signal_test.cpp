// Signals to running tasks, and checkpoints that are asked for with them.
#include <gtest/gtest.h>
#include <signal.h>

#include "actuate/launch/local/launcher_fixture.hpp"

namespace gantry {
namespace {

using namespace std::chrono_literals;

class LauncherSignalTest : public LauncherTest {
 protected:
  void SetUp() override { open(); }

  /// Waits for a signal and does this when it comes.
  Task on_signal(const std::string& script) {
    return sh("trap '" + script + "' USR1; touch here; while :; do sleep 0.02; done");
  }
  /// Starts the task, waits until it can be told, and tells it.
  const AttemptReport& tell(const Task& task, std::int32_t signal) {
    std::filesystem::remove(dir_ / "here");
    const unsigned n = next_++;
    start(n, task);
    EXPECT_TRUE(await_file("here"));
    launcher_->signal(key(n), kHost, signal);
    return await_report(n);
  }
};

TEST_F(LauncherSignalTest, ATaskGetsTheSignal) {
  const auto& report = tell(on_signal("echo got it; exit 5"), SIGUSR1);
  EXPECT_EQ(report.cause, FailureCause::exit_code);
  EXPECT_EQ(report.code, 5);
  EXPECT_EQ(report.out.text, "got it\n");
}

TEST_F(LauncherSignalTest, ATaskThatSavesItsStateInTimeIsCheckpointed) {
  Task task = on_signal("touch saved; exit 0");
  task.checkpoint = {.signal = SIGUSR1, .before = 60s};
  EXPECT_EQ(tell(task, Launcher::kCheckpointSignal).cause, FailureCause::checkpointed);
  EXPECT_TRUE(std::filesystem::exists(dir_ / "saved"));
  // The same end without having been asked for a checkpoint is a success.
  EXPECT_EQ(tell(task, SIGUSR1).cause, FailureCause::none);
}

TEST_F(LauncherSignalTest, ADeclaredCodeTellsACheckpointFromAnEnd) {
  for (const auto& [script, cause] :
       {std::pair("exit 75", FailureCause::checkpointed), std::pair("exit 0", FailureCause::none),
        std::pair("exit 3", FailureCause::exit_code)}) {
    Task task = on_signal(script);
    task.checkpoint = {.signal = SIGUSR1, .before = 60s, .code = 75};
    EXPECT_EQ(tell(task, Launcher::kCheckpointSignal).cause, cause) << script;
  }
}

TEST_F(LauncherSignalTest, ATaskThatTakesTooLongToSaveItsStateIsNotCheckpointed) {
  Task task = on_signal("sleep 0.5; exit 0");
  task.checkpoint = {.signal = SIGUSR1, .before = 1ms};
  EXPECT_EQ(tell(task, Launcher::kCheckpointSignal).cause, FailureCause::none);
}

TEST_F(LauncherSignalTest, ATaskThatWantsNoCheckpointsIsLeftAlone) {
  const unsigned n = next_++;
  start(n, sh("trap 'exit 5' USR1; touch here; while [ ! -e go ]; do sleep 0.02; done"));
  ASSERT_TRUE(await_file("here"));
  launcher_->signal(key(n), kHost, Launcher::kCheckpointSignal);
  launcher_->signal(key(99), kHost, SIGUSR1);  // nobody knows it
  ASSERT_TRUE(write_file_atomic(dir_ / "go", ""));
  EXPECT_EQ(await_report(n).cause, FailureCause::none);
}

TEST_F(LauncherSignalTest, OnlyTheAttemptsThatAreNamedAreRecalled) {
  start(1, sh("while [ ! -e go ]; do sleep 0.02; done"));
  start(2, sh("while [ ! -e go ]; do sleep 0.02; done"));
  ASSERT_TRUE(await_running(1) && await_running(2));
  for (unsigned n = 3; n <= 5; ++n) start(n, sh("true"));
  const std::vector<TaskKey> keys{key(2), key(4), key(77)};
  launcher_->recall(kHost, keys);
  ASSERT_TRUE(poll_until([&] { return returned_.contains(4); }));
  ASSERT_TRUE(write_file_atomic(dir_ / "go", ""));
  for (const unsigned n : {1U, 2U, 3U, 5U}) EXPECT_EQ(await_report(n).cause, FailureCause::none);
  EXPECT_EQ(returned_.size(), 1U);
}

}  // namespace
}  // namespace gantry
