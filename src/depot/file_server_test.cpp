// The file server as a home sees it that does not behave. (How it works with one that does:
// actuate/move/stream_mover_test.cpp.)
#include "depot/file_server.hpp"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <map>
#include <optional>
#include <thread>

#include "base/scratch_dir.hpp"
#include "depot/files_protocol.hpp"

namespace gantry::depot {
namespace {

class FileServerTest : public ::testing::Test {
 protected:
  FileServerTest() {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) std::abort();
    socket_.reset(ends[0]);
    server_ = std::thread([this, end = ends[1]] {
      const UniqueFd mine(end);
      result_ = serve_files(end, end, dir_.path());
    });
  }
  ~FileServerTest() override { finish(); }

  void say(const std::string& bytes) { ASSERT_TRUE(write_all(socket_.get(), bytes)); }
  template <class... Message>
  void send(const Message&... message) {
    std::string out;
    encode(out, message...);
    say(out);
  }
  void greet(std::uint64_t quota = 0) {
    send(FilesHello{kFilesVersion, "test", quota});
    ASSERT_TRUE(await(FilesMessage::welcome));
    ASSERT_TRUE(await(FilesMessage::inventory));
  }
  /// The body of the next message, if it is of this type.
  std::optional<std::string> await(FilesMessage type) {
    for (;;) {
      if (const auto frame = reader_.next()) {
        if (frame->type != static_cast<std::uint8_t>(type)) {
          ADD_FAILURE() << "message " << int{frame->type};
          return std::nullopt;
        }
        return std::string(frame->body);
      }
      const auto [at, room] = reader_.space(65536);
      const ssize_t n = ::read(socket_.get(), at, room);
      if (n <= 0) return std::nullopt;
      reader_.filled(static_cast<std::size_t>(n));
    }
  }
  std::string await_failure() {
    const auto body = await(FilesMessage::failed);
    const auto failed = body ? decode<Failed>(*body) : std::nullopt;
    return failed ? failed->why : "no message";
  }
  std::string await_refusal() {
    const auto body = await(FilesMessage::refused);
    const auto refused = body ? decode<Refused>(*body) : std::nullopt;
    return refused ? refused->why : "no message";
  }
  bool await_done() { return await(FilesMessage::done).has_value(); }
  const Result<>& finish() {
    if (server_.joinable()) {
      ::shutdown(socket_.get(), SHUT_RDWR);
      server_.join();
    }
    return result_;
  }

  ScratchDir dir_;
  UniqueFd socket_;
  FrameReader reader_{kMaxFilesFrame};
  std::thread server_;
  Result<> result_;
};

constexpr const char* kNotOurs = "what was sent to the file server is not its protocol";

TEST_F(FileServerTest, EndsWithItsConnection) {
  greet();
  EXPECT_TRUE(finish());
}

TEST_F(FileServerTest, SaysThatItDoesNotUnderstand) {
  say("GET / HTTP/1.1\r\n\r\n");
  EXPECT_EQ(await_refusal(), kNotOurs);
  EXPECT_FALSE(finish());
}

TEST_F(FileServerTest, WantsToBeGreetedFirst) {
  send(Store{1, hash_bytes("x"), false, "x"});
  EXPECT_EQ(await_refusal(), kNotOurs);
  EXPECT_FALSE(std::filesystem::exists(dir_ / "depot"));
}

TEST_F(FileServerTest, TellsItsVersionToOneOfAnother) {
  std::string out;
  { FrameWriter(out, FilesMessage::hello).encoder.u32(kFilesVersion + 1).str("what is this"); }
  say(out);
  const auto welcome = await(FilesMessage::welcome);
  ASSERT_TRUE(welcome);
  EXPECT_EQ(decode<FilesWelcome>(*welcome)->version, kFilesVersion);
  EXPECT_NE(await_refusal().find("version"), std::string::npos);
  EXPECT_EQ(finish().error().code, ErrorCode::version);
}

TEST_F(FileServerTest, TakesNoFrameOfAnySize) {
  greet();
  std::string head;
  Encoder(head).u32(kMaxFilesFrame + 1).u8(static_cast<std::uint8_t>(FilesMessage::data));
  say(head);
  EXPECT_EQ(await_refusal(), kNotOurs);
}

TEST_F(FileServerTest, LeavesItsFolderForNobody) {
  std::ofstream(dir_ / "secret") << "x";
  greet();
  for (const char* path : {"work/../secret", "secret", "/etc/passwd", "depot/x"}) {
    SCOPED_TRACE(path);
    std::string out;
    encode(out, Fetch{1, path, 0, 1, 0});
    EXPECT_FALSE(decode<Fetch>(std::string_view(out).substr(5)));
  }
  send(Remove{1, "work/../secret"});
  EXPECT_EQ(await_refusal(), kNotOurs);
  EXPECT_TRUE(std::filesystem::exists(dir_ / "secret"));
}

TEST_F(FileServerTest, TakesOnlyWholePathsForFilesThatAreThere) {
  for (const char* path : {"relative", "/etc/../etc/passwd", "/etc//passwd", "/", ""}) {
    std::string out;
    encode(out, Adopt{1, hash_bytes("x"), 1, false, path});
    EXPECT_FALSE(decode<Adopt>(std::string_view(out).substr(5))) << path;
  }
  greet();
  ASSERT_EQ(::mkfifo((dir_ / "pipe").c_str(), 0600), 0);
  send(Adopt{1, hash_bytes("x"), 0, false, dir_ / "pipe"});
  EXPECT_NE(await_failure().find("not a plain file"), std::string::npos);
  std::ofstream(dir_ / "file") << "y";
  send(Adopt{2, hash_bytes("x"), 1, false, dir_ / "file"});
  EXPECT_NE(await_failure(), "no message");
  send(Adopt{3, hash_bytes("y"), 1, false, dir_ / "file"});
  EXPECT_TRUE(await_done());
}

TEST_F(FileServerTest, RemovesNothingThroughALink) {
  greet();
  std::filesystem::create_directories(dir_ / "mine/inner");
  std::filesystem::create_symlink("../mine", dir_ / "work/link");
  send(Remove{1, "work/link/inner"});
  EXPECT_NE(await_failure().find("link leads out"), std::string::npos);
  send(Remove{2, "work/link"});
  EXPECT_TRUE(await_done());
  EXPECT_TRUE(std::filesystem::exists(dir_ / "mine/inner"));
}

TEST_F(FileServerTest, PiecesMustFollowEachOther) {
  const std::string content(600'000, 'a');
  greet();
  send(Offer{1, hash_bytes(content), content.size(), false});
  ASSERT_TRUE(await(FilesMessage::send_from));
  send(Data{1, 100, "later"});
  EXPECT_EQ(await_refusal(), kNotOurs);
}

TEST_F(FileServerTest, AFileIsOfferedOnceAtATime) {
  const std::string content(600'000, 'a');
  greet();
  send(Offer{1, hash_bytes(content), content.size(), false});
  ASSERT_TRUE(await(FilesMessage::send_from));
  send(Offer{2, hash_bytes(content), content.size(), false});
  EXPECT_EQ(await_refusal(), kNotOurs);
}

TEST_F(FileServerTest, DoesNotTakeMoreThanWasAnnounced) {
  greet();
  send(Offer{1, hash_bytes("abc"), 3, false});
  ASSERT_TRUE(await(FilesMessage::send_from));
  send(Data{1, 0, "abcd"});
  EXPECT_NE(await_failure().find("more was sent"), std::string::npos);
  send(Data{1, 0, "abcd"});  // of what has failed
  send(FilesMessage::drop, Named{2, hash_bytes("abc")});
  EXPECT_TRUE(await_done());
}

TEST_F(FileServerTest, AnOfferLargerThanTheDiskIsRefusedAtOnce) {
  greet();
  send(Offer{1, hash_bytes("x"), std::uint64_t{1} << 61U, false});
  EXPECT_NE(await_failure().find("No space left on device"), std::string::npos);
}

TEST_F(FileServerTest, KeepsToTheQuota) {
  greet(1000);
  send(Store{1, hash_bytes(std::string(900, 'a')), false, std::string(900, 'a')});
  EXPECT_TRUE(await_done());
  send(Store{2, hash_bytes(std::string(800, 'b')), false, std::string(800, 'b')});
  EXPECT_TRUE(await_done());
  EXPECT_FALSE(std::filesystem::exists(dir_.path() / "depot" /
                                       Depot::name_of(hash_bytes(std::string(900, 'a')))));
  send(Store{3, hash_bytes(std::string(1001, 'c')), false, std::string(1001, 'c')});
  EXPECT_NE(await_failure().find("no room for 1001 bytes"), std::string::npos);
}

TEST_F(FileServerTest, WhoDoesNotReadIsNotReadFromForEver) {
  greet();
  std::filesystem::create_directories(dir_ / "work");
  std::ofstream(dir_ / "work/large") << std::string(1'000'000, 'x');
  // Far more requests than are answered while nobody reads: they stay with us at some point.
  std::string requests;
  for (RequestId id = 1; requests.size() < 4'000'000; ++id)
    encode(requests, Fetch{id, "work/large", 0, kToTheEnd, 0});
  std::size_t sent = 0;
  for (int idle = 0; idle < 5 && sent < requests.size();) {
    const ssize_t n =
        ::send(socket_.get(), requests.data() + sent, requests.size() - sent, MSG_DONTWAIT);
    if (n > 0) {
      sent += static_cast<std::size_t>(n);
      idle = 0;
    } else {
      pollfd fd{socket_.get(), POLLOUT, 0};
      idle += ::poll(&fd, 1, 10) == 0 ? 1 : 0;
    }
  }
  EXPECT_LT(sent, requests.size());
}

TEST_F(FileServerTest, ForgetsWhatItIsToldTo) {
  const std::string content(600'000, 'a');
  greet();
  send(Offer{1, hash_bytes(content), content.size(), false});
  ASSERT_TRUE(await(FilesMessage::send_from));
  send(FilesMessage::forget, Numbered{1});
  send(FilesMessage::forget, Numbered{99});
  send(Offer{2, hash_bytes(content), content.size(), false});
  EXPECT_TRUE(await(FilesMessage::send_from));
}

TEST_F(FileServerTest, GoesOnWithWhatAnotherSenderGaveUp) {
  const std::string content(600'000, 'a');
  std::filesystem::create_directories(dir_ / "depot/partial");
  const auto partial = [&](const char* who) {
    return dir_.path() / "depot/partial" / (hash_bytes(content).hex() + "." + who);
  };
  std::ofstream(partial("busy")) << content.substr(0, 500'000);
  std::ofstream(partial("gone")) << content.substr(0, 400'000);
  std::filesystem::last_write_time(
      partial("gone"), std::filesystem::file_time_type::clock::now() - std::chrono::minutes(5));
  greet();
  send(Offer{1, hash_bytes(content), content.size(), false});
  const auto from = await(FilesMessage::send_from);
  ASSERT_TRUE(from);
  EXPECT_EQ(decode<SendFrom>(*from)->offset, 400'000U);
  send(Data{1, 400'000, content.substr(400'000)});
  EXPECT_TRUE(await_done());
  EXPECT_TRUE(std::filesystem::exists(partial("busy")));
  EXPECT_FALSE(std::filesystem::exists(partial("gone")));
}

}  // namespace
}  // namespace gantry::depot
