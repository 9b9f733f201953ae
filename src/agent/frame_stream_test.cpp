#include "agent/frame_stream.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <utility>

namespace gantry::agent {
namespace {

std::pair<FrameStream, FrameStream> make_pair_of_streams() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) std::abort();
  return {FrameStream(UniqueFd(ends[0])), FrameStream(UniqueFd(ends[1]))};
}

using Received = FrameStream::Received;

TEST(FrameStream, CarriesMessagesBothWays) {
  auto [a, b] = make_pair_of_streams();
  encode(a.outbox(), Notice{"to b"});
  encode(b.outbox(), Notice{"to a"});
  a.send();
  b.send();
  EXPECT_FALSE(a.wants_to_send());
  ASSERT_EQ(a.receive(1000), Received::some);
  ASSERT_EQ(b.receive(1000), Received::some);
  EXPECT_EQ(decode<Notice>(a.next()->body)->text, "to a");
  EXPECT_EQ(decode<Notice>(b.next()->body)->text, "to b");
  EXPECT_EQ(a.receive(1000), Received::nothing);
}

TEST(FrameStream, NeitherWaitsForASlowReaderNorLosesAnything) {
  auto [a, b] = make_pair_of_streams();
  constexpr int kMessages = 200;
  const std::string text(50'000, 'x');  // 10 MB: far more than a socket holds
  for (int i = 0; i < kMessages; ++i) encode(a.outbox(), Notice{std::to_string(i) + text});
  a.send();
  EXPECT_TRUE(a.wants_to_send());
  int got = 0;
  while (got < kMessages) {
    a.send();
    ASSERT_NE(b.receive(4096), Received::end);
    while (const auto frame = b.next()) {
      ASSERT_EQ(decode<Notice>(frame->body)->text, std::to_string(got) + text);
      ++got;
    }
  }
  EXPECT_FALSE(a.wants_to_send());
  EXPECT_TRUE(a.outbox().empty());
}

TEST(FrameStream, WhatASlowReaderHasReadTakesNoRoom) {
  auto [a, b] = make_pair_of_streams();
  const std::string text(50'000, 'x');
  for (int i = 0; i < 20; ++i) encode(a.outbox(), Notice{text});
  for (int i = 0; i < 1000; ++i) {  // 50 MB pass, and there is always more to send
    encode(a.outbox(), Notice{text});
    a.send();
    ASSERT_TRUE(a.wants_to_send());
    ASSERT_EQ(b.receive(text.size()), Received::some);
    while (b.next()) {
    }
  }
  EXPECT_LT(a.outbox().capacity(), std::size_t{8} << 20);
}

TEST(FrameStream, WhatThePeerSaidBeforeItWentIsReadAlsoAfterAFailedSend) {
  auto [a, b] = make_pair_of_streams();
  encode(b.outbox(), Ack{7});
  b.send();
  b.close();
  encode(a.outbox(), Notice{"too late"});
  a.send();  // no SIGPIPE, no complaint
  EXPECT_FALSE(a.wants_to_send());
  ASSERT_EQ(a.receive(1000), Received::some);
  EXPECT_EQ(decode<Ack>(a.next()->body)->receipt, 7U);
  EXPECT_EQ(a.receive(1000), Received::end);
}

TEST(FrameStream, NoticesWhatIsNotOurProtocol) {
  auto [a, b] = make_pair_of_streams();
  ASSERT_EQ(::write(b.fd(), "GET / HTTP/1.1\r\n", 16), 16);
  ASSERT_EQ(a.receive(1000), Received::some);
  EXPECT_FALSE(a.next());
  EXPECT_TRUE(a.broken());
  a.close();
  EXPECT_FALSE(a);
  EXPECT_FALSE(a.broken());
}

}  // namespace
}  // namespace gantry::agent
