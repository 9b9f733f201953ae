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
    launcher_ = make_ssh_launcher(site, binary_);
    EXPECT_TRUE(launcher_->open());
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
  /// What an agent was asked to answer so far.
  [[nodiscard]] std::vector<agent::Echo> asked(std::uint32_t host) const {
    agent::FrameReader reader;
    reader.append(read_file(dir_ / ("heard-" + std::to_string(host))).value_or(""));
    std::vector<agent::Echo> echoes;
    while (const auto frame = reader.next())
      if (frame->type == agent::MessageType::echo)
        echoes.push_back(*agent::decode_echo(frame->body));
    return echoes;
  }
  /// Both are up, and were asked how far away they are.
  void come_up() {
    poll_until([&] { return !asked(1).empty() && !asked(2).empty(); });
  }
  /// How many answers have counted, after that of this host to what it was asked last.
  std::size_t answer(std::uint32_t host) {
    const auto notices = heard<Notice>().size();
    const agent::Echo echo = asked(host).back();
    say(host, agent::Echoed{echo.number, agent::seal_of(echo.padding)});
    say(host, agent::Notice{"that was it"});
    poll_until([&] { return heard<Notice>().size() > notices; });
    return heard<SiteEchoed>().size();
  }

  ScratchDir dir_;
  AgentBinary binary_;
  std::map<std::uint32_t, UniqueFd> says_;
  std::unique_ptr<Launcher> launcher_;
  std::vector<News> events_;
};

TEST_F(SshLauncherTest, OneHostIsProbedAndAnswersOfOthersDoNotCountMeanwhile) {
  come_up();
  EXPECT_EQ(answer(1), 1U);
  EXPECT_TRUE(launcher_->probe(kScriptedSite, 5000));
  EXPECT_FALSE(launcher_->probe(kScriptedSite, 7000));  // one at a time
  EXPECT_EQ(answer(2), 1U);
  poll_until([&] { return asked(1).size() == 2; });
  EXPECT_EQ(asked(1).back().padding, "");
  EXPECT_EQ(answer(1), 2U);
  poll_until([&] { return asked(1).size() == 3; });
  EXPECT_EQ(asked(1).back().padding.size(), 5000U);
  EXPECT_EQ(answer(1), 3U);
  const auto echoes = heard<SiteEchoed>();
  ASSERT_EQ(echoes.size(), 3U);
  EXPECT_EQ(echoes[1].bytes, 0U);
  EXPECT_EQ(echoes[2].bytes, 5000U);
  EXPECT_EQ(echoes[2].trip, echoes[1].seconds);  // of the same host
  EXPECT_EQ(echoes[2].site, kScriptedSite);
}

TEST_F(SshLauncherTest, AHostThatOwesAnAnswerIsNotProbed) {
  come_up();
  EXPECT_FALSE(launcher_->probe(kScriptedSite, 5000));
  EXPECT_EQ(answer(2), 1U);
  EXPECT_TRUE(launcher_->probe(kScriptedSite, 5000));
  poll_until([&] { return asked(2).size() == 2; });
  EXPECT_EQ(answer(2), 2U);
  poll_until([&] { return asked(2).size() == 3; });
  EXPECT_EQ(asked(2).back().padding.size(), 5000U);
  EXPECT_EQ(asked(1).size(), 1U);
}

}  // namespace
}  // namespace gantry
