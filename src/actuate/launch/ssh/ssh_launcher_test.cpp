// A site whose two agents say what the test does.
#include "actuate/launch/ssh/ssh_launcher.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <vector>

#include "agent/protocol.hpp"
#include "base/fd.hpp"
#include "base/scratch_dir.hpp"

namespace gantry {
namespace {

constexpr SiteId kScriptedSite(1);

class SshLauncherTest : public ::testing::Test {
 protected:
  SshLauncherTest() {
    RemoteSite site{.id = kScriptedSite, .name = "lab"};
    site.batch.emplace().jobs = 1;  // whose login host is this machine
    site.scratch = dir_ / "scratch";
    site.holder = "me";
    for (const std::uint32_t id : {1U, 2U}) {
      site.hosts.push_back({HostId(id), std::to_string(id), 1});
      const std::string pipe = dir_ / ("says-" + std::to_string(id));
      EXPECT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
      says_[id] = UniqueFd(::open(pipe.c_str(), O_RDWR | O_CLOEXEC));
      EXPECT_TRUE(says_[id]);
    }
    binary_.content = fmt::format(
        "#!/bin/sh\n[ \"$1\" = jobs ] || exit 1\nexec 3<&0\n"
        "cat <&3 >'{0}/heard-'${{2##*/}} &\nexec cat '{0}/says-'${{2##*/}}\n",
        dir_.string());
    binary_.image = {"agent", binary_.content.size(), ""};
    launcher_ = std::make_unique<SshLauncher>(site, binary_);
    for (const std::uint32_t id : {1U, 2U}) say(id, agent::Welcome{});
  }
  ~SshLauncherTest() override { says_.clear(); }
  SshLauncherTest(const SshLauncherTest&) = delete;
  SshLauncherTest& operator=(const SshLauncherTest&) = delete;

  void say(std::uint32_t host, const auto& message) {
    std::string frame;
    encode(frame, message);
    EXPECT_EQ(::write(says_[host].get(), frame.data(), frame.size()), std::ssize(frame));
  }
  void poll_until(auto&& done) {
    for (int i = 0; i < 20'000 && !done(); ++i) {
      ASSERT_TRUE(launcher_->poll(events_));
      ::poll(nullptr, 0, 2);
    }
    ASSERT_TRUE(done());
  }
  template <class What>
  [[nodiscard]] std::vector<What> heard() const {
    std::vector<What> some;
    for (const News& event : events_)
      if (const auto* one = find_in<What>(event)) some.push_back(*one);
    return some;
  }
  /// What an agent was sent so far, of this type.
  template <class Decode>
  auto sent(std::uint32_t host, agent::MessageType type, const Decode& decode) const {
    agent::FrameReader reader;
    reader.append(read_file(dir_ / ("heard-" + std::to_string(host))).value_or(""));
    std::vector<std::decay_t<decltype(*decode(std::string_view()))>> some;
    while (const auto frame = reader.next())
      if (frame->type == type) some.push_back(*decode(frame->body));
    return some;
  }
  void come_up() {
    poll_until([&] { return heard<HostUp>().size() == 2; });
  }
  static TaskKey key(std::uint32_t run, std::uint32_t task) {
    return {RunId(run), TaskId(task), AttemptId(1)};
  }
  void report(std::uint32_t host, std::uint64_t receipt, const agent::Ended& ended) {
    std::string frame;
    encode(frame, receipt, ended);
    EXPECT_EQ(::write(says_[host].get(), frame.data(), frame.size()), std::ssize(frame));
  }

  ScratchDir dir_;
  AgentBinary binary_;
  std::map<std::uint32_t, UniqueFd> says_;
  std::unique_ptr<Launcher> launcher_;
  std::vector<News> events_;
};

TEST_F(SshLauncherTest, AnAttemptSeesItsOwnStudysFolder) {
  come_up();
  for (const std::uint32_t run : {1U, 2U}) {
    const std::string base = "/study-" + std::to_string(run);
    LaunchRequest request{key(run, 1), HostId(1), {}, {}, base};
    request.task.argv = {base + "/sim"};
    request.task.workdir = base;
    request.task.outputs = {base + "/out"};
    request.files = {{base + "/in", hash_bytes("x"), 1}};
    launcher_->start(request);
  }
  poll_until([&] { return sent(1, agent::MessageType::start, agent::decode_start).size() == 2; });
  const auto starts = sent(1, agent::MessageType::start, agent::decode_start);
  for (const std::uint32_t run : {1U, 2U}) {
    const agent::Start& start = starts[run - 1];
    const std::string sandbox =
        (dir_ / "scratch/work/me/run").string() + "/" + std::to_string(run) + ".1.1";
    EXPECT_EQ(start.sandbox, sandbox);
    EXPECT_EQ(start.argv[0], sandbox + "/sim");
    ASSERT_EQ(start.inputs.size(), 1U);
    EXPECT_EQ(start.inputs[0].path, "in");
    agent::Ended ended;
    ended.key = start.key;
    ended.tag = start.tag;
    report(1, run, ended);
  }
  poll_until([&] { return heard<ReportReceived>().size() == 2; });
  for (const auto& told : heard<ReportReceived>()) {
    const std::string run = std::to_string(told.report.key.run.value());
    ASSERT_EQ(told.left.outputs.size(), 1U);
    EXPECT_EQ(told.left.outputs[0].path, "/study-" + run + "/out");
    EXPECT_EQ(told.left.outputs[0].remote, "work/me/run/" + run + ".1.1/out");
    EXPECT_EQ(told.left.rubbish, std::vector<std::string>{"work/me/run/" + run + ".1.1"});
  }
}

TEST_F(SshLauncherTest, EachHostsReportsAreAcknowledgedByThemselves) {
  come_up();
  for (const std::uint32_t host : {1U, 2U}) {
    agent::Ended ended;
    ended.key = {1, host, 1};
    report(host, 5, ended);
  }
  poll_until([&] { return heard<ReportReceived>().size() == 2; });
  for (const auto& told : heard<ReportReceived>())
    if (told.host == HostId(2)) launcher_->acknowledge(told.host, told.receipt);
  poll_until([&] { return !sent(2, agent::MessageType::ack, agent::decode_ack).empty(); });
  EXPECT_EQ(sent(2, agent::MessageType::ack, agent::decode_ack).front().receipt, 5U);
  EXPECT_TRUE(sent(1, agent::MessageType::ack, agent::decode_ack).empty());
}

TEST_F(SshLauncherTest, RecallsAndSignalsNameTheirAttempts) {
  come_up();
  launcher_->recall(HostId(1), {{key(1, 7), key(2, 9)}});
  launcher_->signal(key(1, 8), HostId(1), 10);
  poll_until([&] { return !sent(1, agent::MessageType::tell, agent::decode_tell).empty(); });
  const auto recalls = sent(1, agent::MessageType::recall, agent::decode_recall);
  ASSERT_EQ(recalls.size(), 1U);
  EXPECT_EQ(recalls[0].keys, (std::vector<agent::AttemptKey>{{1, 7, 1}, {2, 9, 1}}));
  const auto tell = sent(1, agent::MessageType::tell, agent::decode_tell).front();
  EXPECT_EQ(tell.key, (agent::AttemptKey{1, 8, 1}));
  EXPECT_EQ(tell.signal, 10);
  EXPECT_TRUE(sent(2, agent::MessageType::recall, agent::decode_recall).empty());
}

}  // namespace
}  // namespace gantry
