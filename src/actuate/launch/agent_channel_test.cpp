// What an agent says of itself and of the tasks that it will not run.
#include "actuate/launch/agent_channel.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>

namespace gantry {
namespace {

class AgentChannelTest : public ::testing::Test {
 protected:
  AgentChannelTest() { connect({}); }

  void connect(const agent::Welcome& welcome) {
    int ends[2];
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    channel_.attach(UniqueFd(ends[0]));
    agent_ = agent::FrameStream(UniqueFd(ends[1]));
    encode(agent_.outbox(), welcome);
  }
  /// Until all that the agent says was heard; false when the channel does not want to hear it.
  bool hear() {
    do {
      agent_.send();
      if (!channel_.receive()) return false;
    } while (agent_.wants_to_send());
    return channel_.receive();
  }

  AgentChannel channel_{HostId(1), "here", {}};
  agent::FrameStream agent_;
};

TEST_F(AgentChannelTest, AnAgentThatRefusesWithoutEndIsNotBelieved) {
  constexpr std::uint32_t kMost = 10'000;
  for (std::uint32_t i = 1; i <= kMost; ++i) encode(agent_.outbox(), agent::Refused{i, 0, "why"});
  EXPECT_TRUE(hear());
  EXPECT_EQ(channel_.refusals().size(), kMost);
  encode(agent_.outbox(), agent::Refused{1, 0, "one more"});
  EXPECT_FALSE(hear());
  EXPECT_EQ(channel_.refusals().size(), kMost);
}

TEST_F(AgentChannelTest, AnotherVersionIsTheProblemOfThatAgentOnly) {
  agent::Welcome newer;
  ++newer.version;
  connect(newer);
  EXPECT_FALSE(hear());
  ASSERT_TRUE(channel_.problem());
  EXPECT_EQ(channel_.problem()->code, ErrorCode::version);
  connect({});
  EXPECT_TRUE(hear());
  EXPECT_FALSE(channel_.problem());
}

TEST_F(AgentChannelTest, AnAgentRestsUntilItSaysOtherwise) {
  EXPECT_TRUE(hear());
  EXPECT_FALSE(channel_.resting());
  encode(agent_.outbox(), agent::Resting{true, "too many jobs"});
  EXPECT_TRUE(hear());
  EXPECT_EQ(channel_.resting(), "too many jobs");
  encode(agent_.outbox(), agent::Resting{});
  EXPECT_TRUE(hear());
  EXPECT_FALSE(channel_.resting());
}

}  // namespace
}  // namespace gantry
