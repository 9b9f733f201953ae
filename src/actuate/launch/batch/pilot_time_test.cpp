// An agent whose time is limited, as that of a job: what it starts, what it tells, how it ends.
#include <gmock/gmock.h>
#include <spawn.h>
#include <sys/wait.h>

#include "actuate/launch/agent_program.hpp"
#include "actuate/launch/local/launcher_fixture.hpp"

extern char** environ;

namespace gantry {
namespace {

using namespace std::chrono_literals;

class PilotTimeTest : public LauncherTest {
 protected:
  ~PilotTimeTest() override {
    if (pid_ <= 0) return;
    close();  // it would wait for us
    ::kill(pid_, SIGTERM);
    while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }

  /// Tasks have so many seconds from now on.
  void open_pilot(int seconds) {
    const auto program = find_agent();
    ASSERT_TRUE(program) << program.error().message;
    std::filesystem::create_directories(site_.state_dir);
    std::vector<std::string> words{program->string(), "pilot", site_.state_dir.string(),
                                   dir_.path(), std::to_string(seconds)};
    std::vector<char*> argv;
    for (auto& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    ASSERT_EQ(::posix_spawn(&pid_, argv[0], nullptr, nullptr, argv.data(), environ), 0);
    ASSERT_TRUE(
        eventually([&] { return std::filesystem::exists(site_.state_dir / "agent" / "address"); }));
    open();
  }

  pid_t pid_ = -1;
};

TEST_F(PilotTimeTest, ATaskThatCannotFinishInTimeIsGivenBack) {
  open_pilot(600);
  Task task = sh("true");
  task.resources.walltime = 1h;
  start(1, task);
  task.resources.walltime = 1min;
  start(2, task);
  EXPECT_EQ(await_report(2).cause, FailureCause::none);
  EXPECT_TRUE(poll_until([&] { return returned_.contains(1); }));
  EXPECT_FALSE(reports_.contains(1));
}

TEST_F(PilotTimeTest, TasksAreToldBeforeTheEndAndTheOthersAreNotToBlame) {
  const auto begun = std::chrono::steady_clock::now();
  open_pilot(8);
  start(1, sh("trap '' TERM; sleep 600"));
  const auto listens = dir_ / "listens";
  Task task = sh("trap 'echo saved; exit 0' USR1; touch '" + listens.string() +
                 "'; while :; do sleep 0.05; done");
  task.checkpoint = {SIGUSR1, 4s};
  start(2, task);
  ASSERT_TRUE(poll_until([&] {
    return std::filesystem::exists(listens) || reports_.contains(2) || returned_.contains(2);
  }));
  // It is told four seconds after the beginning. On a very slow machine nobody may listen by then.
  const bool in_time = std::chrono::steady_clock::now() - begun < 3s;
  if (in_time) {
    EXPECT_EQ(await_report(2).cause, FailureCause::none);
    EXPECT_EQ(reports_[2].report.out.text, "saved\n");
  }
  // Nobody had asked for it, so that the engine takes it for lost: it runs again elsewhere. Only if
  // it came too late it is given back.
  EXPECT_TRUE(poll_until([&] { return reports_.contains(1) || returned_.contains(1); }));
  if (in_time || !returned_.contains(1)) {
    EXPECT_EQ(await_report(1).cause, FailureCause::cancelled);
  }
}

}  // namespace
}  // namespace gantry
