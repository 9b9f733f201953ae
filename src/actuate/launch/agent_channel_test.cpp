// What an agent says of itself and of the tasks that it will not run.
#include "actuate/launch/agent_channel.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <limits>

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

  static agent::Start task(std::uint32_t number, std::uint32_t cores = 1) {
    agent::Start start;
    start.key = {1, number, 1};
    start.cores = cores;
    return start;
  }
  const ReportReceived* last_report() {
    return channel_.reports().empty() ? nullptr : &channel_.reports().back().received;
  }
  /// The last event, if it is one of these.
  template <class What>
  const What* last() {
    return channel_.events().empty() ? nullptr : find_in<What>(channel_.events().back());
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

TEST_F(AgentChannelTest, TellsHowLongATaskWaitedThatTheHostWasFreeFor) {
  agent::Welcome welcome;
  welcome.cores = 3;
  connect(welcome);
  ASSERT_TRUE(hear());
  channel_.start(task(1));
  channel_.start(task(2));
  for (const std::uint32_t number : {1U, 2U}) {
    encode(agent_.outbox(), agent::Started{{1, number, 1}, 5});
    ASSERT_TRUE(hear());
    ASSERT_NE(last<AttemptStarted>(), nullptr);
    // The channel has one core, whatever its host has.
    EXPECT_EQ(std::exchange(channel_.waits(), {}).size(), number == 1 ? 1U : 0U);
  }
  encode(agent_.outbox(), agent::Started{{1, 1, 1}, 6});  // a second time
  ASSERT_TRUE(hear());
  EXPECT_TRUE(channel_.waits().empty());
}

TEST_F(AgentChannelTest, TellsWhatATaskTookBesidesItsRunTime) {
  ASSERT_TRUE(hear());
  agent::Ended ended;
  ended.key = {1, 1, 1};
  ended.started_ns = 10;
  ended.ended_ns = 20;
  const auto tell = [&](std::uint64_t receipt) {
    encode(agent_.outbox(), receipt, ended);
    EXPECT_TRUE(hear());
    return last_report();
  };
  EXPECT_FALSE(tell(1)->besides);  // nobody has handed it over
  channel_.start(task(1));
  ASSERT_TRUE(tell(2)->besides);
  EXPECT_GT(*last_report()->besides, 0);
  EXPECT_EQ(std::exchange(channel_.waits(), {}).size(), 1U);  // its start was not heard of
  EXPECT_FALSE(tell(3)->besides);                             // a second time

  channel_.start(task(1));
  ended.cause = 1;  // it has failed
  EXPECT_FALSE(tell(4)->besides);
  ended.cause = 0;

  channel_.start(task(1, 2));  // more than there is: it had to wait
  EXPECT_FALSE(tell(5)->besides);

  channel_.start(task(1));
  channel_.start(task(2));
  ended.key.task = 2;  // the first one was there before it
  EXPECT_FALSE(tell(6)->besides);
  ended.key.task = 1;
  EXPECT_TRUE(tell(7)->besides);

  channel_.start(task(1));
  ended.started_ns = std::numeric_limits<std::int64_t>::min();
  ended.ended_ns = std::numeric_limits<std::int64_t>::max();
  EXPECT_LT(*tell(8)->besides, 0);  // a lie, for others to judge
}

TEST_F(AgentChannelTest, WhatAnotherConnectionBeganSaysNothingOfTime) {
  ASSERT_TRUE(hear());
  channel_.start(task(1));
  agent::Welcome welcome;
  welcome.running = {{{1, 1, 1}, 10}, {{1, 7, 1}, 10}};
  connect(welcome);
  ASSERT_TRUE(hear());
  EXPECT_TRUE(channel_.waits().empty());
  agent::Ended ended;
  ended.key = {1, 1, 1};
  encode(agent_.outbox(), 1, ended);
  ASSERT_TRUE(hear());
  EXPECT_FALSE(last_report()->besides);
  // Of what was found nobody knows how much it takes up.
  channel_.start(task(2));
  ended.key.task = 2;
  encode(agent_.outbox(), 2, ended);
  ASSERT_TRUE(hear());
  EXPECT_FALSE(last_report()->besides);
}

}  // namespace
}  // namespace gantry
