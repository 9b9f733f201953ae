// How far away a site is and what its link carries, measured while no file is in the way.
#include <gtest/gtest.h>

#include "actuate/move/link_echo.hpp"
#include "actuate/move/mover_fixture.hpp"
#include "depot/files_protocol.hpp"

namespace gantry {
namespace {

using namespace std::chrono_literals;

class LinkEchoTest : public ::testing::Test {
 protected:
  /// What was asked last; nothing when nothing was.
  depot::Echo asked() {
    FrameReader reader(depot::kMaxFilesFrame);
    reader.append(std::exchange(out_, {}));
    depot::Echo echo;
    while (const auto frame = reader.next()) {
      body_ = frame->body;
      echo = depot::decode_echo(body_).value();
    }
    return echo;
  }
  /// Whether the answer to what is out counts.
  std::optional<LinkEcho::Answer> answer(std::uint64_t number, std::uint64_t seal = 0) {
    std::optional<LinkEcho::Answer> answer;
    EXPECT_TRUE(echo_.answered({number, seal}, now_, answer));
    return answer;
  }

  LinkEcho echo_;
  std::string out_;
  std::string body_;
  TimePoint now_ = from_ns(1'000'000'000);
};

TEST_F(LinkEchoTest, AnEmptyOneIsSentNowAndThen) {
  EXPECT_FALSE(answer(1)) << "nobody has asked";
  echo_.ask_if_due(out_, now_);
  EXPECT_EQ(asked().number, 1U);
  echo_.ask_if_due(out_, now_ + 1h);
  EXPECT_EQ(out_, "") << "one at a time";
  EXPECT_FALSE(answer(2)) << "nobody has asked for that";
  now_ += 40ms;
  EXPECT_DOUBLE_EQ(answer(1)->seconds, 0.04);
  EXPECT_FALSE(answer(1)) << "once";
  echo_.ask_if_due(out_, now_ + 9s);
  EXPECT_EQ(out_, "");
  echo_.ask_if_due(out_, now_ + 10s);
  EXPECT_EQ(asked().number, 2U);
}

TEST_F(LinkEchoTest, AnAnswerThatAFileWasInTheWayOfDoesNotCount) {
  echo_.ask_if_due(out_, now_);
  echo_.disturb();
  EXPECT_FALSE(answer(1));
  out_.clear();
  echo_.ask_if_due(out_, now_ + 200ms);
  EXPECT_EQ(out_, "") << "not at once again";
  echo_.ask_if_due(out_, now_ + 300ms);
  EXPECT_TRUE(answer(2));
}

TEST_F(LinkEchoTest, APaddingFollowsAnEmptyOne) {
  echo_.probe(out_, 5000, now_);
  EXPECT_EQ(asked().padding, "");
  EXPECT_FALSE(echo_.has_padding_to_send());
  now_ += 20ms;
  EXPECT_EQ(answer(1)->bytes, 0U);
  ASSERT_TRUE(echo_.has_padding_to_send());
  echo_.send_padding(out_, now_);
  const depot::Echo padded = asked();
  EXPECT_EQ(padded.padding.size(), 5000U);
  now_ += 100ms;
  const auto told = answer(2, depot::seal_of(padded.padding));
  ASSERT_TRUE(told);
  EXPECT_EQ(told->bytes, 5000U);
  EXPECT_DOUBLE_EQ(told->seconds, 0.1);
  EXPECT_DOUBLE_EQ(told->trip, 0.02);
}

TEST_F(LinkEchoTest, WhoAnswersBeforeAllBytesCanBeThereIsNotBelieved) {
  echo_.probe(out_, 5000, now_);
  ASSERT_TRUE(answer(1));
  echo_.send_padding(out_, now_);
  std::optional<LinkEcho::Answer> told;
  EXPECT_FALSE(echo_.answered({2, 0}, now_, told));
  EXPECT_FALSE(told);
}

TEST_F(LinkEchoTest, AProbeDiesWithItsConnection) {
  echo_.probe(out_, 5000, now_);
  echo_.forget();
  EXPECT_FALSE(echo_.is_out());
  EXPECT_FALSE(echo_.has_padding_to_send());
  EXPECT_FALSE(answer(1));
}

using StreamMoverEchoTest = MoverTest;

TEST_F(StreamMoverEchoTest, ASiteAnswersWithoutBeingAsked) {
  open();
  EXPECT_TRUE(poll_until([&] { return !echoes_.empty(); }));
  EXPECT_GT(echoes_[0].seconds, 0);
  EXPECT_EQ(echoes_[0].bytes, 0U);
}

TEST_F(StreamMoverEchoTest, ALinkIsProbedWhileNoFileIsInTheWay) {
  open();
  ASSERT_TRUE(poll_until([&] { return !echoes_.empty(); }));
  const std::size_t before = echoes_.size();
  SiteGlance first;
  mover_->glance(first);
  ASSERT_TRUE(mover_->probe(300'000));
  EXPECT_FALSE(mover_->probe(300'000)) << "one at a time";
  ASSERT_TRUE(poll_until([&] { return echoes_.size() == before + 2; }));
  EXPECT_EQ(echoes_[before].bytes, 0U);
  EXPECT_EQ(echoes_[before + 1].bytes, 300'000U);
  EXPECT_EQ(echoes_[before + 1].trip, echoes_[before].seconds);
  SiteGlance then;
  mover_->glance(then);
  EXPECT_EQ(then.sent, first.sent) << "it is no file";

  const auto put = mover_->put(make_file("large", large_content(3'000'000)));
  EXPECT_FALSE(mover_->probe(1000)) << "a file is in the way";
  EXPECT_EQ(await(put), "");
}

TEST_F(StreamMoverEchoTest, AFileThatSetsOutSpoilsAProbe) {
  open();
  ASSERT_TRUE(poll_until([&] { return !echoes_.empty(); }));
  const std::size_t before = echoes_.size();
  ASSERT_TRUE(mover_->probe(1000));
  EXPECT_EQ(await(mover_->put(make_file("f", "x"))), "");
  ASSERT_TRUE(poll_until([&] { return mover_->probe(1000); }));
  ASSERT_TRUE(poll_until([&] { return echoes_.size() >= before + 2; }));
  EXPECT_EQ(echoes_.back().bytes, 1000U);
}

}  // namespace
}  // namespace gantry
