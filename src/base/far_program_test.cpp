#include "base/far_program.hpp"

#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

namespace gantry {
namespace {

FarProgram run_shell(const std::string& script) {
  auto program = FarProgram::start({"/bin/sh", "-c", script});
  EXPECT_TRUE(program) << program.error().message;
  return std::move(*program);
}

std::string receive(const FarProgram& program) {
  std::string line(100, '\0');
  const ssize_t n = ::recv(program.socket().get(), line.data(), line.size(), 0);
  line.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
  return line;
}

void await_words(const FarProgram& program) {
  pollfd fd{program.words_fd(), POLLIN, 0};
  ASSERT_EQ(::poll(&fd, 1, 90'000), 1);
}

TEST(FarProgram, TalksOverOneSocketAndItsLastWordsAreKept) {
  FarProgram program =
      run_shell("read x; echo got $x; echo first >&2; echo ' why ' >&2; exec sleep 600");
  ASSERT_TRUE(write_all(program.socket().get(), "this\n"));
  EXPECT_EQ(receive(program), "got this\n");
  while (program.last_words() != " why") await_words(program);
  EXPECT_EQ(program.said(), "first\n why \n");
  EXPECT_FALSE(program.has_ended());
}

TEST(FarProgram, OneThatSaysTooMuchDoesNotWaitForUsAndItsEndIsKept) {
  // More than a pipe holds; then it ends, and its last line is the reason.
  FarProgram program =
      run_shell("head -c 300000 /dev/zero | tr '\\0' x >&2; echo; echo the end >&2");
  while (program.words_fd() >= 0) {
    await_words(program);
    program.listen();
  }
  EXPECT_EQ(program.last_words().substr(program.last_words().size() - 7), "the end");
  EXPECT_LE(program.said().size(), std::size_t{4} << 10);
  EXPECT_EQ(receive(program), "\n");
}

TEST(FarProgram, EndsWithItsObjectAndWithWhatItHasStarted) {
  FarProgram program = run_shell("sleep 600 & echo $!; wait");
  const pid_t jump = static_cast<pid_t>(std::stol(receive(program)));
  ASSERT_EQ(::kill(jump, 0), 0);
  const UniqueFd socket = std::move(program.socket());
  program = FarProgram();
  // The socket is closed when the last of them has gone.
  char byte = 0;
  EXPECT_EQ(::recv(socket.get(), &byte, 1, 0), 0);
}

TEST(FarProgram, WhatCannotBeStartedIsTold) {
  const auto program = FarProgram::start({"/nowhere/ssh"});
  ASSERT_FALSE(program);
  EXPECT_EQ(program.error().message, "cannot start /nowhere/ssh: No such file or directory");
}

TEST(FarProgram, TokensDiffer) {
  EXPECT_NE(make_token().value(), make_token().value());
  EXPECT_TRUE(make_token()->starts_with("gantry-"));
}

}  // namespace
}  // namespace gantry
