// An agent in bad company: strange peers, full disks, callers that leave things behind.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <cstdlib>

#include "actuate/launch/local/launcher_fixture.hpp"
#include "agent/agent.hpp"
#include "agent/file_limit.hpp"
#include "agent/frame_stream.hpp"
#include "agent/slot_log.hpp"
#include "agent/unix_socket.hpp"

namespace gantry {
namespace {

using ::testing::HasSubstr;

class LauncherHostileTest : public LauncherTest {
 protected:
  std::filesystem::path agent_dir() { return site_.state_dir / "agent"; }
  bool agent_gone() {
    return eventually([&] { return !agent_is_running(site_.state_dir); });
  }
  agent::FrameStream stranger() {
    return agent::FrameStream(agent::connect_to(agent_dir(), agent::kSocketName).value());
  }
  /// Reads until there is a whole message or the agent hangs up.
  static std::optional<agent::Frame> await_frame(agent::FrameStream& stream) {
    std::optional<agent::Frame> frame;
    bool over = false;
    eventually([&] {
      over = stream.receive(4096) == agent::FrameStream::Received::end;
      frame = stream.next();
      return over || frame.has_value();
    });
    return frame;
  }
};

TEST_F(LauncherHostileTest, GarbageIsHungUpOnAndDisturbsNoTask) {
  open();
  start(1, sh("touch here; while [ ! -e go ]; do sleep 0.02; done"));
  ASSERT_TRUE(await_file("here"));
  const pid_t agent = agent_pid();
  abandon();
  std::string start_before_hello;
  agent::Start message;
  message.argv = {"/bin/true"};
  encode(start_before_hello, message);
  std::string hello_cut_short;
  encode(hello_cut_short, agent::Hello{});
  hello_cut_short[0] = static_cast<char>(hello_cut_short[0] - 4);
  hello_cut_short.resize(hello_cut_short.size() - 4);
  for (const std::string& bytes : {std::string("GET / HTTP/1.0\r\n\r\n"), std::string(4, '\0'),
                                   std::string(64, '\xff'), start_before_hello, hello_cut_short}) {
    agent::FrameStream peer = stranger();
    peer.outbox() = bytes;
    peer.send();
    EXPECT_FALSE(await_frame(peer));
  }
  open();
  EXPECT_TRUE(await_running(1));
  EXPECT_EQ(agent_pid(), agent);
  ASSERT_TRUE(write_file_atomic(dir_ / "go", ""));
  EXPECT_EQ(await_report(1).cause, FailureCause::none);
}

TEST_F(LauncherHostileTest, StrangersDoNotDisplaceTheGantryThatIsThere) {
  open();
  start(1, sh("touch here; while [ ! -e go ]; do sleep 0.02; done"));
  ASSERT_TRUE(await_file("here"));
  std::vector<agent::FrameStream> silent;
  for (int i = 0; i < 20; ++i) silent.push_back(stranger());
  for (const auto version : {agent::kProtocolVersion + 1, agent::kProtocolVersion - 1}) {
    agent::FrameStream peer = stranger();
    encode(peer.outbox(), agent::Hello{version, 1, 0, 0, {}});
    peer.send();
    EXPECT_TRUE(await_frame(peer)) << "it is told our version";
  }
  silent.push_back(stranger());
  silent.back().outbox() = "GET / HTTP/1.0\r\n\r\n";
  silent.back().send();
  EXPECT_FALSE(await_frame(silent.back()));
  start(2, sh("exit 0"));
  EXPECT_EQ(await_report(2).cause, FailureCause::none);
  ASSERT_TRUE(write_file_atomic(dir_ / "go", ""));
  EXPECT_EQ(await_report(1).cause, FailureCause::none);
  EXPECT_EQ(hosts_.size(), 1U) << "the connection was never lost";
}

TEST_F(LauncherHostileTest, AGantryOfAnotherVersionIsToldSo) {
  open();
  start(1, sh("touch here; while [ ! -e go ]; do sleep 0.02; done"));
  ASSERT_TRUE(await_file("here"));
  abandon();
  {
    agent::FrameStream peer = stranger();
    encode(peer.outbox(), agent::Hello{agent::kProtocolVersion + 1, 1, 0, 0, {}});
    peer.send();
    const auto frame = await_frame(peer);
    ASSERT_TRUE(frame && frame->type == agent::MessageType::welcome);
    EXPECT_EQ(agent::decode_welcome(frame->body)->version, agent::kProtocolVersion);
    EXPECT_EQ(agent::decode_welcome(frame->body)->pid, agent_pid());
  }
  open();
  EXPECT_TRUE(await_running(1));
  ASSERT_TRUE(write_file_atomic(dir_ / "go", ""));
  await_report(1);
}

TEST_F(LauncherHostileTest, ReportsOfAnotherVersionAreNotThrownAway) {
  std::filesystem::create_directories(agent_dir());
  std::string log;
  encode(log, agent::Hello{agent::kProtocolVersion + 1, 1, 0, 0, {}});
  ASSERT_TRUE(write_file_atomic(agent::slot_log_path(agent_dir(), 0), log + "unknown"));
  launcher_ = make_local_launcher(site_).launcher;
  const auto opened = try_open();
  ASSERT_FALSE(opened);
  EXPECT_THAT(opened.error().message, HasSubstr("another version"));
  EXPECT_EQ(read_file(agent::slot_log_path(agent_dir(), 0)).value(), log + "unknown");
}

TEST_F(LauncherHostileTest, WhoKeepsATasksOutputOpenCannotWriteIntoALaterOne) {
  site_.cores = 1;
  open();
  start(1, sh("echo $$ > pid; touch here; while [ ! -e go ]; do sleep 0.02; done"));
  ASSERT_TRUE(await_file("here"));
  const auto fds = "/proc/" + std::to_string(number_in("pid")) + "/fd/";
  const UniqueFd out(::open((fds + "1").c_str(), O_WRONLY | O_CLOEXEC));
  const UniqueFd err(::open((fds + "2").c_str(), O_WRONLY | O_CLOEXEC));
  ASSERT_TRUE(out && err);
  ASSERT_TRUE(write_file_atomic(dir_ / "go", ""));
  EXPECT_EQ(await_report(1).cause, FailureCause::none);
  start(2, sh("echo mine; touch here2; while [ ! -e go2 ]; do sleep 0.02; done"));
  ASSERT_TRUE(await_file("here2"));
  ::signal(SIGPIPE, SIG_IGN);
  EXPECT_FALSE(write_all(out.get(), "a stranger's"));
  EXPECT_FALSE(write_all(err.get(), "a stranger's"));
  ::signal(SIGPIPE, SIG_DFL);
  ASSERT_TRUE(write_file_atomic(dir_ / "go2", ""));
  EXPECT_EQ(await_report(2).out.text, "mine\n");
  EXPECT_EQ(await_report(2).err.text, "");
}

TEST_F(LauncherHostileTest, AStoppedSlotStillKeepsTheTimeout) {
  open();
  Task t = sh("echo $PPID > pid.tmp; mv pid.tmp pid; sleep 600");
  t.timeout = std::chrono::milliseconds(500);
  start(1, t);
  ASSERT_TRUE(await_file("pid"));
  ::kill(static_cast<pid_t>(number_in("pid")), SIGSTOP);
  EXPECT_EQ(await_report(1).cause, FailureCause::timeout);
}

TEST_F(LauncherHostileTest, OpeningRightAfterClosingAlwaysWorks) {
  // The agent is about to exit each time.
  for (unsigned n = 1; n <= 40; ++n) {
    open();
    start(n, sh("exit 0"));
    ASSERT_EQ(await_report(n).cause, FailureCause::none);
    acknowledge_all();
    close();
    if (n % 2 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(n % 7));
  }
}

TEST_F(LauncherHostileTest, TheAgentKeepsNothingOfItsCaller) {
  const UniqueFd script_lock(::open((dir_ / "lock").c_str(), O_RDWR | O_CREAT, 0600));  // inherited
  ASSERT_TRUE(script_lock);
  ::signal(SIGHUP, SIG_IGN);
  open();
  ::signal(SIGHUP, SIG_DFL);
  EXPECT_EQ(run(sh("exit 0")).cause, FailureCause::none);
  const auto process = std::filesystem::path("/proc") / std::to_string(agent_pid());
  for (const auto& entry : std::filesystem::directory_iterator(process / "fd")) {
    std::error_code error;
    EXPECT_NE(std::filesystem::read_symlink(entry.path(), error), dir_ / "lock");
  }
  EXPECT_EQ(std::filesystem::read_symlink(process / "cwd"), "/");
  EXPECT_THAT(run(sh("trap 'echo heard' HUP; kill -HUP $$")).out.text, HasSubstr("heard"));
}

TEST_F(LauncherHostileTest, AHugeEnvironmentPasses) {
  for (int i = 0; i < 10; ++i) {
    ::setenv(("GANTRY_TEST_" + std::to_string(i)).c_str(), std::string(100'000, 'e').c_str(), 1);
  }
  open();
  const auto report = run(sh("echo ${#GANTRY_TEST_7}"));
  // A second hello, while a slot is busy with a report as large as that.
  Task t = sh("touch here; for i in 1 2 3; do head -c 1000000 /dev/zero > part$i; done");
  t.collect = {dir_ / "part1", dir_ / "part2", dir_ / "part3"};
  start(2, t);
  ASSERT_TRUE(await_file("here"));
  abandon();
  open();
  for (int i = 0; i < 10; ++i) ::unsetenv(("GANTRY_TEST_" + std::to_string(i)).c_str());
  EXPECT_EQ(report.out.text, "100000\n");
  EXPECT_EQ(await_report(2).collected.size(), 3U);
  start(3, sh("echo ${#GANTRY_TEST_7}"));
  EXPECT_EQ(await_report(3).out.text, "100000\n");
}

TEST_F(LauncherHostileTest, OnAFullDiskTheAgentKeepsReportsInMemoryUntilSomebodyTakesThem) {
  const agent::FileLimit limit(6000);  // inherited by the agent: no file can grow beyond that
  site_.cores = 1;
  open();
  for (unsigned n = 1; n <= 6; ++n) {
    start(n, sh("head -c 2500 /dev/zero | tr '\\0' x"));
    ASSERT_EQ(await_report(n).cause, FailureCause::none);
  }
  const pid_t agent = agent_pid();
  abandon();
  // The slot's log holds two of them, and four are too many for a file of their own as well.
  std::this_thread::sleep_for(std::chrono::milliseconds(1500));
  EXPECT_TRUE(agent_is_running(site_.state_dir));
  open();
  ASSERT_TRUE(poll_until([&] { return reports_.size() == 6; }));
  EXPECT_EQ(agent_pid(), agent);
  for (unsigned n = 1; n <= 6; ++n) EXPECT_EQ(reports_[n].report.out.text, std::string(2500, 'x'));
  acknowledge_all();
  close();
  EXPECT_TRUE(agent_gone());
}

TEST_F(LauncherHostileTest, WhatFindsNoRoomInASlotsLogGetsAFileOfItsOwn) {
  {
    const agent::FileLimit limit(6000);
    site_.cores = 1;
    open();
    for (unsigned n = 1; n <= 3; ++n) {
      start(n, sh("head -c 2500 /dev/zero | tr '\\0' x"));
      ASSERT_EQ(await_report(n).cause, FailureCause::none);
    }
    abandon();
    ASSERT_TRUE(agent_gone());
  }
  EXPECT_TRUE(std::filesystem::exists(agent_dir() / "unsaved.log"));
  open();
  ASSERT_TRUE(poll_until([&] { return reports_.size() == 3; }));
  for (const auto& [n, report] : reports_)
    EXPECT_EQ(report.report.out.text, std::string(2500, 'x')) << n;
  for (const auto& [k, causes] : causes_)
    for (const auto cause : causes) EXPECT_EQ(cause, FailureCause::none) << k.task.value();
  acknowledge_all();
  close();
  ASSERT_TRUE(agent_gone());
  EXPECT_FALSE(std::filesystem::exists(agent_dir() / "unsaved.log"));
}

}  // namespace
}  // namespace gantry
