// Files from other sites, as those give them that do not behave. (How it works with one that does:
// actuate/move/mover_pull_test.cpp.)
#include "depot/pulls.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>

#include "base/child_process.hpp"

namespace gantry::depot {
namespace {

using std::chrono::seconds;

class PullsTest : public ::testing::Test {
 protected:
  Result<FarProgram> open(const PeerSite& site, const std::string& token) {
    opened_.push_back(site.ssh);
    token_ = token;
    if (refuse_) return fail(ErrorCode::peer, "no ssh here");
    FdPair sockets = make_socket_pair().value();
    far_ = std::move(sockets.theirs);
    FdPair words = make_pipe().value();
    ::fcntl(words.ours.get(), F_SETFL, O_NONBLOCK);
    far_words_ = std::move(words.theirs);
    return FarProgram(std::move(sockets.ours), std::move(words.ours));
  }

  void want(RequestId id, std::uint64_t bytes, std::uint64_t skip = 0) {
    pulls_.add(kPeer, {id, {1, id}, skip}, bytes, now_);
  }
  void step(Duration later = {}) {
    now_ += later;
    pulls_.step(
        now_,
        [this](RequestId id, std::string_view bytes) {
          came_ += std::to_string(id) + ":" + std::string(bytes) + " ";
          return still_wanted_;
        },
        [this](RequestId id, const Error& why) {
          failed_ += std::to_string(id) + ":" + why.message + " ";
          gone_ = why.code == ErrorCode::gone;
        });
  }
  void say(const std::string& bytes) { ASSERT_TRUE(write_all(far_.get(), bytes)); }
  template <class... Message>
  static std::string frame(const Message&... message) {
    std::string out;
    encode(out, message...);
    return out;
  }
  void greet() { say(giver_greeting(token_)); }
  /// Wanted: request 1, of five bytes; what the site says of it; what is said of that.
  std::string complaint(const std::string& says) {
    want(1, 5);
    step();
    greet();
    say(says);
    step();
    return failed_;
  }

  const PeerSite kPeer{"ada", "/s", "gantry-agent-0"};
  TimePoint now_ = TimePoint{} + std::chrono::hours(1);
  std::vector<std::string> opened_;
  std::string token_;
  UniqueFd far_words_;  ///< where the peer says what else it has to say
  bool refuse_ = false;
  bool still_wanted_ = true;
  UniqueFd far_;
  std::string came_;
  std::string failed_;
  bool gone_ = false;
  Pulls pulls_{{.open = [this](const auto& site, const auto& token) { return open(site, token); },
                .patience = seconds(30),
                .idle = seconds(10)}};
};

constexpr const char* kNonsense = "1:what the giving site says is not our protocol ";

TEST_F(PullsTest, FilesComeOneAfterTheOtherOverOneConnection) {
  want(1, 5);
  want(2, 4, 2);
  step();
  say("You have mail.\nno end of line: ");
  step();
  greet();
  say(frame(FileHead{1, 5, false}) + frame(Data{1, 0, "ab"}) + frame(Data{1, 2, "cde"}) +
      frame(FileEnd{1, {1, 1}}));
  step();
  say(frame(FileHead{2, 4, false}) + frame(Data{2, 2, "xy"}) + frame(FileEnd{2, {1, 2}}));
  step();
  EXPECT_EQ(came_, "1:ab 1:cde 2:xy ");
  EXPECT_EQ(failed_, "");
  EXPECT_EQ(opened_.size(), 1U);
  // The connection waits for more, but not for ever.
  EXPECT_EQ(pulls_.deadline() - now_, seconds(10));
  step(seconds(9));
  std::vector<pollfd> fds;
  pulls_.add_wanted(fds);
  EXPECT_EQ(fds.size(), 2U) << "what it gives, and what it says besides";
  step(seconds(1));
  EXPECT_EQ(pulls_.deadline(), kNever);
  want(3, 1);
  step();
  EXPECT_EQ(opened_.size(), 2U);
}

TEST_F(PullsTest, ASiteThatCannotBeReachedFailsAllThatWasWantedOfIt) {
  refuse_ = true;
  want(1, 5);
  want(2, 5);
  step();
  EXPECT_EQ(failed_, "1:no ssh here 2:no ssh here ");
  EXPECT_FALSE(gone_);
  EXPECT_EQ(pulls_.deadline(), kNever);
}

TEST_F(PullsTest, NobodyIsReachedWithoutAWay) {
  Pulls none{{}};
  none.add(kPeer, {1, {1, 1}, 0}, 5, now_);
  none.step(
      now_, [](auto, auto) { return true; },
      [&](auto, const Error& why) { failed_ = why.message; });
  EXPECT_EQ(failed_, "no other site can be reached from here");
}

TEST_F(PullsTest, WhyAConnectionBrokeIsTold) {
  want(1, 5);
  step();
  ASSERT_TRUE(write_all(far_words_.get(), "first words\nlast words\n"));
  far_.reset();
  step();
  EXPECT_EQ(failed_, "1:last words ");
}

TEST_F(PullsTest, WhatItSaysBesidesIsHeardMeanwhile) {
  want(1, 5);
  step();
  ASSERT_TRUE(write_all(far_words_.get(), "words"));
  std::vector<pollfd> fds;
  pulls_.add_wanted(fds);
  ASSERT_EQ(fds.size(), 2U);
  EXPECT_EQ(::poll(&fds[1], 1, 0), 1);
  step();
  EXPECT_EQ(::poll(&fds[1], 1, 0), 0) << "it would wait for us, and say nothing else";
}

TEST_F(PullsTest, ASiteThatSaysNothingIsGivenUp) {
  want(1, 5);
  step();
  greet();
  step(seconds(29));
  EXPECT_EQ(pulls_.deadline() - now_, seconds(30));  // it has greeted just now
  step(seconds(29));
  EXPECT_EQ(failed_, "");
  step(seconds(1));
  EXPECT_EQ(failed_, "1:the giving site has said nothing for too long ");
}

TEST_F(PullsTest, WhatTheSiteDoesNotHaveFailsAlone) {
  want(1, 5);
  want(2, 1);
  step();
  greet();
  say(frame(Failed{1, FilesProblem::gone, "not here"}) + frame(FileHead{2, 1, false}) +
      frame(Data{2, 0, "x"}) + frame(FileEnd{2, {1, 2}}));
  step();
  EXPECT_EQ(failed_, "1:not here ");
  EXPECT_TRUE(gone_);
  EXPECT_EQ(came_, "2:x ");
}

TEST_F(PullsTest, WhatIsForgottenIsNotTold) {
  want(1, 2);
  want(2, 1);
  step();
  greet();
  pulls_.forget(1);
  say(frame(FileHead{1, 2, false}) + frame(Data{1, 0, "no"}) + frame(FileEnd{1, {1, 1}}) +
      frame(FileHead{2, 1, false}) + frame(Data{2, 0, "x"}));
  step();
  EXPECT_EQ(came_, "2:x ");
  pulls_.forget(2);  // nothing else is wanted: the connection ends
  EXPECT_EQ(pulls_.deadline(), kNever);
}

TEST_F(PullsTest, WhatNobodyTakesEndsTheConnection) {
  still_wanted_ = false;
  EXPECT_EQ(complaint(frame(FileHead{1, 5, false}) + frame(Data{1, 0, "ab"})), "");
  EXPECT_EQ(pulls_.deadline(), kNever);
}

TEST_F(PullsTest, AnotherSizeThanWasAnnounced) {
  EXPECT_EQ(complaint(frame(FileHead{1, 6, false})), kNonsense);
}
TEST_F(PullsTest, MoreThanWasAnnounced) {
  EXPECT_EQ(complaint(frame(FileHead{1, 5, false}) + frame(Data{1, 0, "abcdef"})), kNonsense);
}
TEST_F(PullsTest, APieceInTheWrongPlace) {
  EXPECT_EQ(complaint(frame(FileHead{1, 5, false}) + frame(Data{1, 1, "a"})), kNonsense);
}
TEST_F(PullsTest, AnEndBeforeTheEnd) {
  EXPECT_EQ(complaint(frame(FileHead{1, 5, false}) + frame(FileEnd{1, {1, 1}})), kNonsense);
}
TEST_F(PullsTest, BytesWithoutAHead) {
  EXPECT_EQ(complaint(frame(Data{1, 0, "a"})), kNonsense);
}
TEST_F(PullsTest, AFileThatNobodyWants) {
  EXPECT_EQ(complaint(frame(FileHead{7, 5, false})), kNonsense);
}
TEST_F(PullsTest, AMessageThatHasNoPlaceHere) {
  EXPECT_EQ(complaint(frame(FilesMessage::drop, Named{1, {1, 1}})), kNonsense);
}
TEST_F(PullsTest, NoMessageAtAll) {
  EXPECT_EQ(complaint(std::string(100, '\xff')), kNonsense);
}

TEST_F(PullsTest, AGreetingWithoutEnd) {
  want(1, 5);
  step();
  const std::string noise(100'000, 'x');
  for (int i = 0; i < 3; ++i) {
    say(noise);
    step();
  }
  EXPECT_EQ(failed_, "1:its login shell prints without end ");
}

}  // namespace
}  // namespace gantry::depot
