// Sites that do not behave, and what is left at home then. The test plays the site.
#include <gtest/gtest.h>

#include <thread>

#include "actuate/move/mover_fixture.hpp"
#include "depot/files_protocol.hpp"

namespace gantry {
namespace {

using namespace depot;  // NOLINT: the messages

class StreamMoverHostileTest : public MoverTest {
 protected:
  StreamMoverHostileTest() {
    options_.connect = [this]() -> Result<UniqueFd> {
      ++connections_;
      int ends[2];
      if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return fail_errno("socketpair");
      site_.reset(ends[1]);
      reader_ = FrameReader(kMaxFilesFrame);
      return UniqueFd(ends[0]);
    };
    // No test waits so long: who is hung up on has said something wrong.
    options_.silence = std::chrono::hours(1);
    mover_ = make_stream_mover(options_);
    poll_once(0);
  }

  template <class... Message>
  void say(const Message&... message) {
    std::string out;
    encode(out, message...);
    ASSERT_TRUE(write_all(site_.get(), out));
    poll_once(0);
    poll_once(0);
  }
  void welcome() {
    greeted_ = connections_;
    say(FilesWelcome{});
    say(InventoryPart{true, {}});
  }
  /// Waits for a request of this type; others are passed over.
  bool hear(FilesMessage type) {
    for (;;) {
      while (const auto frame = reader_.next())
        if (frame->type == static_cast<std::uint8_t>(type)) return true;
      poll_once(0);
      const auto [at, room] = reader_.space(65536);
      const ssize_t n = ::recv(site_.get(), at, room, MSG_DONTWAIT);
      if (n == 0) return false;
      if (n > 0) reader_.filled(static_cast<std::size_t>(n));
    }
  }
  /// The mover has hung up on who greeted it, and come again: perhaps while say() let it run.
  bool is_dropped() {
    return poll_until([&] { return connections_ > greeted_; });
  }
  TransferId get_out() {
    const auto id = mover_->get({"work/out", dir_ / "out", 0, 1000});
    EXPECT_TRUE(hear(FilesMessage::fetch));
    return id;
  }
  /// What is at home but for what the test put there.
  std::size_t files_at_home() {
    return static_cast<std::size_t>(
        std::distance(std::filesystem::directory_iterator(dir_.path()), {}));
  }

  UniqueFd site_;
  int greeted_ = 0;  // connections_ at the last welcome
  FrameReader reader_{kMaxFilesFrame};
};

TEST_F(StreamMoverHostileTest, AShellThatGreets) {
  options_.patience = std::chrono::milliseconds(20);
  mover_ = make_stream_mover(options_);
  poll_once(0);
  const auto id = mover_->put(make_file("f", "x"));
  ASSERT_TRUE(write_all(site_.get(), "Welcome to cluster!\n"));
  ASSERT_TRUE(poll_until([&] {
    if (site_) (void)write_all(site_.get(), "Welcome to cluster!\n");
    return is_over(id);
  }));
  EXPECT_NE(failed_[id].why.find("does its shell print something"), std::string::npos)
      << failed_[id].why;
  EXPECT_TRUE(failed_[id].lost_connection);
}

TEST_F(StreamMoverHostileTest, AnotherVersionIsTheEnd) {
  const auto id = mover_->put(make_file("f", "x"));
  std::string out;
  { FrameWriter(out, FilesMessage::welcome).encoder.u32(kFilesVersion + 7); }
  ASSERT_TRUE(write_all(site_.get(), out));
  ASSERT_TRUE(poll_until([&] { return is_over(id); }));
  EXPECT_NE(error_.find("speaks version " + std::to_string(kFilesVersion + 7)), std::string::npos)
      << error_;
  EXPECT_FALSE(failed_[id].lost_connection);
  poll_once(0);
  EXPECT_EQ(connections_, 1);
}

TEST_F(StreamMoverHostileTest, ARefusalIsPassedOn) {
  options_.patience = std::chrono::milliseconds(0);
  mover_ = make_stream_mover(options_);
  poll_once(0);
  const auto id = mover_->put(make_file("f", "x"));
  say(Refused{"/scratch: Permission denied"});
  ASSERT_TRUE(poll_until([&] { return is_over(id); }));
  EXPECT_NE(failed_[id].why.find("/scratch: Permission denied"), std::string::npos);
}

TEST_F(StreamMoverHostileTest, MoreThanWasAskedFor) {
  welcome();
  const auto id = get_out();  // at most 1000 bytes
  say(FileHead{id.value(), 1001, false});
  EXPECT_TRUE(is_dropped());
  EXPECT_EQ(files_at_home(), 0U);

  // As much as was asked for is fine, and comes by the next connection.
  welcome();
  ASSERT_TRUE(hear(FilesMessage::fetch));
  const std::string content(1000, 'x');
  say(FileHead{id.value(), 1000, false});
  say(Data{id.value(), 0, content});
  say(FileEnd{id.value(), hash_bytes(content)});
  EXPECT_EQ(await(id), "");
  EXPECT_EQ(connections_, greeted_);
  EXPECT_EQ(std::filesystem::file_size(dir_ / "out"), 1000U);
}

TEST_F(StreamMoverHostileTest, MoreThanWasAnnounced) {
  welcome();
  const auto id = get_out();
  say(FileHead{id.value(), 10, false});
  say(Data{id.value(), 0, "0123456789a"});
  EXPECT_TRUE(is_dropped());
}

TEST_F(StreamMoverHostileTest, PiecesOutOfOrder) {
  welcome();
  const auto id = get_out();
  say(FileHead{id.value(), 10, false});
  say(Data{id.value(), 5, "01234"});
  EXPECT_TRUE(is_dropped());
}

TEST_F(StreamMoverHostileTest, DataBeforeItWasAnnounced) {
  welcome();
  const auto id = get_out();
  say(Data{id.value(), 0, "01234"});
  EXPECT_TRUE(is_dropped());
}

TEST_F(StreamMoverHostileTest, AWrongHashIsNotBelievedTwice) {
  welcome();
  const auto id = get_out();
  const auto send_wrong = [&] {
    say(FileHead{id.value(), 3, false});
    say(Data{id.value(), 0, "abc"});
    say(FileEnd{id.value(), hash_bytes("abd")});
  };
  send_wrong();
  ASSERT_TRUE(hear(FilesMessage::fetch));
  send_wrong();
  EXPECT_EQ(await(id), "work/out: changed while it was fetched");
  EXPECT_EQ(files_at_home(), 0U);
}

TEST_F(StreamMoverHostileTest, AnEndThatComesTooEarly) {
  welcome();
  const auto id = get_out();
  say(FileEnd{id.value(), hash_bytes("")});
  EXPECT_TRUE(hear(FilesMessage::fetch));
  say(FileHead{id.value(), 3, false});
  say(FileEnd{id.value(), hash_bytes("")});
  EXPECT_NE(await(id), "");
  EXPECT_EQ(files_at_home(), 0U);
}

TEST_F(StreamMoverHostileTest, AFileThatIsDoneWithoutHavingCome) {
  welcome();
  const auto id = get_out();
  say(FilesMessage::done, Numbered{id.value()});
  EXPECT_TRUE(is_dropped());
  EXPECT_FALSE(is_over(id));
}

TEST_F(StreamMoverHostileTest, AnAnswerToWhatWasNeverAsked) {
  welcome();
  say(FilesMessage::done, Numbered{77});
  say(Failed{78, FilesProblem::other, "why"});
  say(FileHead{79, 1, false});
  say(Data{79, 0, "x"});
  say(FileEnd{79, hash_bytes("x")});
  say(SendFrom{80, 5});
  const auto id = mover_->put(make_file("f", "x"));
  ASSERT_TRUE(hear(FilesMessage::store));
  say(FilesMessage::done, Numbered{id.value()});
  EXPECT_EQ(await(id), "");
  EXPECT_EQ(connections_, 1);
  EXPECT_TRUE(failed_.empty());
}

TEST_F(StreamMoverHostileTest, MoreThanThereIs) {
  welcome();
  const auto id = mover_->put(make_file("f", std::string(300'000, 'x')));
  ASSERT_TRUE(hear(FilesMessage::offer));
  say(SendFrom{id.value(), 300'001});
  EXPECT_TRUE(is_dropped());
}

TEST_F(StreamMoverHostileTest, ASlowSiteGetsWhatCanBeMadeSmallerPacked) {
  std::string content;
  while (content.size() < 3'000'000) content += "line " + std::to_string(content.size()) + "\n";
  welcome();
  const auto id = mover_->put(make_file("f", content));
  ASSERT_TRUE(hear(FilesMessage::offer));
  say(SendFrom{id.value(), 0});
  std::this_thread::sleep_for(std::chrono::milliseconds(300));  // it does not read: a slow link
  std::string arrived;
  int packed = 0;
  Unpacker unpacker;
  const auto take = [&](const RawFrame& frame) {
    const bool is_packed = frame.type == static_cast<std::uint8_t>(FilesMessage::data_packed);
    const auto data =
        is_packed ? decode_packed<Data>(frame.body, unpacker) : decode<Data>(frame.body);
    ASSERT_TRUE(data);
    arrived += data->bytes;
    packed += is_packed ? 1 : 0;
  };
  ASSERT_TRUE(poll_until([&] {
    const auto [at, room] = reader_.space(65536);
    const ssize_t n = ::recv(site_.get(), at, room, MSG_DONTWAIT);
    if (n > 0) reader_.filled(static_cast<std::size_t>(n));
    while (const auto frame = reader_.next()) take(*frame);
    return arrived.size() >= content.size();
  }));
  EXPECT_EQ(arrived, content);
  EXPECT_GT(packed, 0);
}

TEST_F(StreamMoverHostileTest, PatienceBeginsWhenTheConnectionIsLost) {
  options_.patience = std::chrono::milliseconds(200);
  mover_ = make_stream_mover(options_);
  poll_once(0);
  welcome();
  const auto id = mover_->put(make_file("f", "x"));
  ASSERT_TRUE(hear(FilesMessage::store));
  std::this_thread::sleep_for(2 * std::chrono::milliseconds(200));  // it takes its time to answer
  ::shutdown(site_.get(), SHUT_RDWR);
  ASSERT_TRUE(is_dropped());
  EXPECT_FALSE(is_over(id));
}

}  // namespace
}  // namespace gantry
