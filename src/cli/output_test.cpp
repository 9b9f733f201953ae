#include "cli/output.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <array>

#include "base/fd.hpp"

namespace gantry::cli {
namespace {

struct Pipe {
  Pipe() {
    std::array<int, 2> ends{};
    EXPECT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
    read_end.reset(ends[0]);
    write_end.reset(ends[1]);
  }
  UniqueFd read_end;
  UniqueFd write_end;
};

TEST(Output, WritesOnFlush) {
  const Pipe pipe;
  Output output(pipe.write_end.get());
  output.write("a");
  output.line("b");
  output.flush();
  std::array<char, 8> text{};
  EXPECT_EQ(::read(pipe.read_end.get(), text.data(), text.size()), 3);
  EXPECT_STREQ(text.data(), "ab\n");
}

TEST(Output, AClosedReaderIsQuiet) {
  Pipe pipe;
  pipe.read_end.reset();
  Output output(pipe.write_end.get());
  output.line("x");
  output.flush();  // would end the test program by SIGPIPE
  EXPECT_TRUE(output.closed());
  EXPECT_TRUE(output.status().has_value());
  sigset_t pending;
  sigpending(&pending);
  EXPECT_EQ(sigismember(&pending, SIGPIPE), 0);
  struct sigaction action {};
  sigaction(SIGPIPE, nullptr, &action);
  EXPECT_EQ(action.sa_handler, SIG_DFL);
}

TEST(Output, AFullDiskIsAnError) {
  const UniqueFd full(::open("/dev/full", O_WRONLY | O_CLOEXEC));
  ASSERT_TRUE(full);
  Output output(full.get());
  output.line("x");
  output.flush();
  ASSERT_FALSE(output.status().has_value());
  EXPECT_FALSE(output.closed());
}

}  // namespace
}  // namespace gantry::cli
