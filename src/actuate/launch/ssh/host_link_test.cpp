// A host behind a line whose every moment the test decides: no clock is waited for.
#include "actuate/launch/ssh/host_link.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/protocol.hpp"
#include "base/fd.hpp"
#include "base/scratch_dir.hpp"

namespace gantry {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

class HostLinkTest : public ::testing::Test {
 protected:
  HostLinkTest() {
    site_.name = "s1";
    site_.hosts = {{HostId(1), "s1-1", 1}};
    site_.batch.emplace();  // whose login host is this machine
    site_.scratch = dir_ / "scratch";
    site_.holder = "me";
    // The far end waits for one byte more than there is: as if the line were slow.
    binary_.content = std::string(1 << 20, 'x');
    binary_.image = {"agent", binary_.content.size() + 1, ""};
  }

  /// Lets the far end do what it can, as if all that took no time.
  void poll_until(HostLink& link, HostLink::Clock::time_point now, auto&& done) {
    for (int i = 0; i < 20'000 && !done(); ++i) {
      link.poll(now, events_);
      ::poll(nullptr, 0, 5);
    }
    ASSERT_TRUE(done());
  }
  /// Not all of it: who receives it may hold the last bytes back until there are more.
  [[nodiscard]] bool has_come_in_part() const {
    std::error_code none;
    for (const auto& file : std::filesystem::directory_iterator(dir_ / "scratch/bin", none))
      if (file.file_size(none) > binary_.content.size() / 2) return true;
    return false;
  }

  ScratchDir dir_;
  RemoteSite site_;
  AgentBinary binary_;
  std::vector<News> events_;
};

TEST_F(HostLinkTest, AProgramThatComesSlowlyIsWaitedFor) {
  HostLink link(site_, site_.hosts.front(), binary_);
  const auto begin = HostLink::Clock::now();
  poll_until(link, begin, [&] { return has_come_in_part(); });
  // 20 s, and a MiB at 16 KiB a second: 84 s.
  link.poll(begin + 83s, events_);
  EXPECT_FALSE(link.was_tried());
  EXPECT_TRUE(events_.empty());
  link.poll(begin + 85s, events_);
  EXPECT_TRUE(link.was_tried());
  ASSERT_EQ(events_.size(), 1U);
  EXPECT_THAT(std::get<Notice>(events_.front()).text, HasSubstr("does not answer"));
}

/// An agent that says what the test does.
class SpokenForTest : public HostLinkTest {
 protected:
  SpokenForTest() {
    const std::string pipe = dir_ / "says";
    EXPECT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
    says_ = UniqueFd(::open(pipe.c_str(), O_RDWR | O_CLOEXEC));
    EXPECT_TRUE(says_);
    binary_.content = "#!/bin/sh\nexec 3<&0\ncat <&3 >/dev/null &\nexec cat '" + pipe + "'\n";
    binary_.image = {"agent", binary_.content.size(), ""};
  }
  void say(const auto& message) {
    std::string frame;
    encode(frame, message);
    EXPECT_EQ(::write(says_.get(), frame.data(), frame.size()), std::ssize(frame));
  }
  template <class What>
  [[nodiscard]] auto heard() const {
    return std::ranges::count_if(events_,
                                 [](const News& event) { return find_in<What>(event) != nullptr; });
  }
  /// How many answers have counted, after this one.
  auto answer(HostLink& link, HostLink::Clock::time_point now, std::uint64_t number) {
    const auto notices = heard<Notice>();
    say(agent::Echoed{number});
    say(agent::Notice{"that was it"});
    poll_until(link, now, [&] { return heard<Notice>() > notices; });
    return heard<SiteEchoed>();
  }

  UniqueFd says_;
};

TEST_F(SpokenForTest, HowFarAwayItIsIsMeasuredWhileNoFileIsInTheWay) {
  HostLink link(site_, site_.hosts.front(), binary_);
  auto now = HostLink::Clock::now();
  link.set_quiet(false);
  say(agent::Welcome{});
  poll_until(link, now, [&] { return link.up(); });
  EXPECT_EQ(answer(link, now, 1), 0);  // nobody has asked
  link.set_quiet(true);
  link.poll(now, events_);
  link.set_quiet(false);
  EXPECT_EQ(answer(link, now, 1), 0);  // a file has set out
  link.set_quiet(true);
  link.poll(now, events_);
  EXPECT_EQ(answer(link, now, 2), 0);  // not at once again
  now += 1s;
  link.poll(now, events_);
  EXPECT_EQ(answer(link, now, 2), 1);
  EXPECT_EQ(answer(link, now, 2), 1);  // once
  now += 9s;
  link.poll(now, events_);
  EXPECT_EQ(answer(link, now, 3), 1);  // now and then
  now += 1s;
  link.poll(now, events_);
  EXPECT_EQ(answer(link, now, 3), 2);
  says_.reset();
}

TEST_F(SpokenForTest, ItsLinkIsProbedWhileNoFileIsInTheWay) {
  HostLink link(site_, site_.hosts.front(), binary_);
  const auto now = HostLink::Clock::now();
  EXPECT_FALSE(link.probe(1000));  // it is not up
  link.set_quiet(false);
  say(agent::Welcome{});
  poll_until(link, now, [&] { return link.up(); });
  EXPECT_FALSE(link.probe(1000));
  EXPECT_FALSE(link.is_probed());
  link.set_quiet(true);
  EXPECT_TRUE(link.probe(1000));
  EXPECT_TRUE(link.is_probed());
  EXPECT_FALSE(link.probe(1000));  // one at a time
  link.set_quiet(false);           // a file that sets out and arrives
  link.set_quiet(true);
  EXPECT_EQ(answer(link, now, 1), 0);
  EXPECT_FALSE(link.is_probed());
  EXPECT_FALSE(link.channel().is_probed());
  EXPECT_TRUE(link.probe(1000));
  EXPECT_EQ(answer(link, now, 2), 1);  // the empty one
  EXPECT_TRUE(link.is_probed());
  EXPECT_TRUE(link.channel().is_probed());
  say(agent::Echoed{3, 0});  // before it can have come
  poll_until(link, now, [&] { return !link.up(); });
  EXPECT_EQ(heard<HostDown>(), 1);
  EXPECT_EQ(heard<SiteEchoed>(), 1);
  EXPECT_FALSE(link.is_probed());
  says_.reset();
}

}  // namespace
}  // namespace gantry
