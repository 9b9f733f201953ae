#include "base/child_process.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace gantry {
namespace {

TEST(ChildProcess, IsReadToItsEndAndWaitedFor) {
  FdPair pipe = make_pipe().value();
  const pid_t child = ::fork();
  if (child == 0) {
    static_cast<void>(write_all(pipe.theirs.get(), std::string(2000, 'x') + "end"));
    ::_exit(7);
  }
  pipe.theirs.reset();
  EXPECT_EQ(read_to_end(pipe.ours.get(), "reading").value(), std::string(2000, 'x') + "end");
  EXPECT_EQ(WEXITSTATUS(wait_for_child(child)), 7);
  EXPECT_EQ(read_to_end(-1, "reading").error().message, "reading: Bad file descriptor");
}

TEST(ChildProcess, NothingIsInheritedByOtherPrograms) {
  const FdPair pipe = make_pipe().value();
  const FdPair sockets = make_socket_pair().value();
  for (const UniqueFd* fd : {&pipe.ours, &pipe.theirs, &sockets.ours, &sockets.theirs})
    EXPECT_NE(::fcntl(fd->get(), F_GETFD) & FD_CLOEXEC, 0);
  ASSERT_TRUE(write_all(sockets.ours.get(), "x"));
  char byte = 0;
  EXPECT_EQ(::read(sockets.theirs.get(), &byte, 1), 1);
}

TEST(ChildProcess, RandomDigestsDiffer) {
  EXPECT_NE(random_digest().value(), random_digest().value());
}

}  // namespace
}  // namespace gantry
