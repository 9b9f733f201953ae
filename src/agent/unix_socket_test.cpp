#include "agent/unix_socket.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/scratch_dir.hpp"

namespace gantry::agent {
namespace {

TEST(UnixSocket, ReachesDirectoriesWithLongNames) {
  const ScratchDir dir;
  const auto deep = dir / (std::string(200, 'a') + "/" + std::string(200, 'b'));
  std::filesystem::create_directories(deep);
  const auto listener = listen_on(deep, "socket");
  ASSERT_TRUE(listener) << listener.error().message;
  const auto client = connect_to(deep, "socket");
  ASSERT_TRUE(client) << client.error().message;
  const UniqueFd server(::accept4(listener->get(), nullptr, nullptr, SOCK_CLOEXEC));
  ASSERT_TRUE(server);
  EXPECT_TRUE(peer_is_own_user(server.get()));
  EXPECT_TRUE(peer_is_own_user(client->get()));
  ASSERT_TRUE(write_all(client->get(), "hi"));
  char text[3] = "";
  EXPECT_EQ(::read(server.get(), text, 2), 2);
  EXPECT_STREQ(text, "hi");
}

TEST(UnixSocket, IsForThisUserOnlyAndNotInherited) {
  const ScratchDir dir;
  const auto listener = listen_on(dir.path(), "socket");
  ASSERT_TRUE(listener);
  struct stat info {};
  ASSERT_EQ(::stat((dir / "socket").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600U);
  EXPECT_NE(::fcntl(listener->get(), F_GETFD) & FD_CLOEXEC, 0);
  const auto client = connect_to(dir.path(), "socket");
  ASSERT_TRUE(client);
  EXPECT_NE(::fcntl(client->get(), F_GETFD) & FD_CLOEXEC, 0);
}

TEST(UnixSocket, ReplacesASocketThatNobodyServes) {
  const ScratchDir dir;
  listen_on(dir.path(), "socket").value().reset();
  const auto refused = connect_to(dir.path(), "socket");
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find((dir / "socket").string()), std::string::npos);
  const auto again = listen_on(dir.path(), "socket");
  ASSERT_TRUE(again);
  EXPECT_TRUE(connect_to(dir.path(), "socket"));
}

TEST(UnixSocket, SaysWhatIsMissing) {
  const ScratchDir dir;
  EXPECT_FALSE(connect_to(dir.path(), "socket"));
  EXPECT_FALSE(connect_to(dir / "missing", "socket"));
  EXPECT_FALSE(listen_on(dir / "missing", "socket"));
  EXPECT_FALSE(listen_on(dir.path(), std::string(200, 'n').c_str()));
  EXPECT_FALSE(peer_is_own_user(-1));
}

}  // namespace
}  // namespace gantry::agent
