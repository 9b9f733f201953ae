#include "cli/terminal/output.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

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

/// What has reached the reader since the last call, without waiting for more.
std::string arrived(const Pipe& pipe) {
  int bytes = 0;
  EXPECT_EQ(::ioctl(pipe.read_end.get(), FIONREAD, &bytes), 0);
  std::string text(static_cast<std::size_t>(bytes), '\0');
  const ssize_t got = bytes == 0 ? 0 : ::read(pipe.read_end.get(), text.data(), text.size());
  EXPECT_EQ(got, bytes);
  return text;
}

TEST(Output, WritesOnFlush) {
  const Pipe pipe;
  Output output(pipe.write_end.get());
  output.write("a");
  output.line("b");
  EXPECT_EQ(arrived(pipe), "");
  output.flush();
  EXPECT_EQ(arrived(pipe), "ab\n");
  output.flush();
  EXPECT_EQ(arrived(pipe), "") << "written twice";
}

TEST(Output, WritesWhatWouldTakeMuchMemoryAndTheRestAtItsEnd) {
  const Pipe pipe;
  {
    Output output(pipe.write_end.get());
    output.write(std::string(std::size_t{64} << 10, 'x'));  // as much as it holds, and a pipe too
    EXPECT_EQ(arrived(pipe).size(), std::size_t{64} << 10);
    output.buffer() += "formatted in place";
    output.settle();
    EXPECT_EQ(arrived(pipe), "");
  }
  EXPECT_EQ(arrived(pipe), "formatted in place");
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

/// Holds SIGINT off, as a run does while tasks may run.
class InterruptHeldOff {
 public:
  InterruptHeldOff() {
    sigemptyset(&interrupt_);
    sigaddset(&interrupt_, SIGINT);
    pthread_sigmask(SIG_BLOCK, &interrupt_, nullptr);
  }
  ~InterruptHeldOff() {
    const timespec at_once{};
    while (sigtimedwait(&interrupt_, nullptr, &at_once) > 0) continue;
    pthread_sigmask(SIG_UNBLOCK, &interrupt_, nullptr);
  }
  InterruptHeldOff(const InterruptHeldOff&) = delete;
  InterruptHeldOff& operator=(const InterruptHeldOff&) = delete;

 private:
  sigset_t interrupt_{};
};

const std::string kMoreThanAPipeHolds(std::size_t{1} << 20, 'x');

TEST(Output, AReaderThatStallsDoesNotKeepUsFromStopping) {
  const Pipe pipe;
  const InterruptHeldOff held_off;
  Output output(pipe.write_end.get());
  ::raise(SIGINT);
  output.write(kMoreThanAPipeHolds);  // comes back
  EXPECT_TRUE(output.closed());
  EXPECT_FALSE(output.status().has_value()) << "not all of it was printed";
}

TEST(Output, ASlowReaderGetsEverythingAlsoWhenWeStop) {
  Pipe pipe;
  const InterruptHeldOff held_off;
  Output output(pipe.write_end.get());
  std::size_t got = 0;
  std::jthread reader([&] {
    std::vector<char> piece(std::size_t{64} << 10);
    for (ssize_t n = 1; n > 0; got += static_cast<std::size_t>(n)) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      n = ::read(pipe.read_end.get(), piece.data(), piece.size());
    }
  });
  ::raise(SIGINT);
  output.write(kMoreThanAPipeHolds);
  output.flush();
  EXPECT_FALSE(output.closed());
  pipe.write_end.reset();
  reader.join();
  EXPECT_EQ(got, kMoreThanAPipeHolds.size());
}

}  // namespace
}  // namespace gantry::cli
