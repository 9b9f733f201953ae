// A host behind a line whose every moment the test decides: no clock is waited for.
#include "actuate/launch/ssh/host_link.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>

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

}  // namespace
}  // namespace gantry
