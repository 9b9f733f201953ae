#include "base/fd.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <thread>

#include "base/scratch_dir.hpp"

namespace gantry {
namespace {

bool is_open(int fd) {
  return ::fcntl(fd, F_GETFD) >= 0;
}

std::pair<UniqueFd, UniqueFd> make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("pipe");
  return {UniqueFd(ends[0]), UniqueFd(ends[1])};
}

TEST(UniqueFd, ClosesWhenItGoesAndOnlyOnce) {
  int number = -1;
  {
    auto [read_end, write_end] = make_pipe();
    number = read_end.get();
    UniqueFd moved = std::move(read_end);
    EXPECT_FALSE(read_end);  // NOLINT(bugprone-use-after-move): that it is empty is the point
    EXPECT_EQ(moved.get(), number);
    EXPECT_TRUE(is_open(number));
  }
  EXPECT_FALSE(is_open(number));
}

TEST(UniqueFd, AssignmentClosesTheOldOneAndReleaseGivesUpOwnership) {
  auto [a, b] = make_pipe();
  const int old = a.get();
  const int kept = b.get();
  a = std::move(b);
  EXPECT_FALSE(is_open(old));
  EXPECT_EQ(a.get(), kept);
  EXPECT_EQ(a.release(), kept);
  EXPECT_FALSE(a);
  EXPECT_TRUE(is_open(kept));
  ::close(kept);
}

TEST(OpenFile, IsNotInheritedAndNamesThePathInItsError) {
  const ScratchDir dir;
  const auto file = open_file(dir / "new", O_WRONLY | O_CREAT);
  ASSERT_TRUE(file);
  EXPECT_EQ(::fcntl(file->get(), F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
  const auto missing = open_file(dir / "missing", O_RDONLY);
  ASSERT_FALSE(missing);
  EXPECT_NE(missing.error().message.find((dir / "missing").string()), std::string::npos);
}

TEST(WriteAll, GoesOnAfterShortWrites) {
  auto [read_end, write_end] = make_pipe();
  const std::string sent(3'000'000, 'x');  // many times what a pipe holds
  std::string got;
  std::thread reader([&, fd = read_end.get()] {
    char buffer[4096];
    for (ssize_t n = 0; (n = ::read(fd, buffer, sizeof buffer)) > 0;)
      got.append(buffer, static_cast<std::size_t>(n));
  });
  EXPECT_TRUE(write_all(write_end.get(), sent));
  write_end.reset();
  reader.join();
  EXPECT_EQ(got, sent);
}

TEST(WriteAll, SaysThatTheDiskIsFull) {
  const auto full = open_file("/dev/full", O_WRONLY);
  ASSERT_TRUE(full);
  const auto written = write_all(full->get(), "x");
  ASSERT_FALSE(written);
  EXPECT_NE(written.error().hint.find("disk space"), std::string::npos);
}

TEST(ReadFile, TakesUpToTheLimitAndNotOneByteMore) {
  const ScratchDir dir;
  ASSERT_TRUE(write_file_atomic(dir / "f", std::string(100'000, 'a')));
  EXPECT_EQ(read_file(dir / "f").value().size(), 100'000U);
  EXPECT_EQ(read_file(dir / "f", 100'000).value().size(), 100'000U);
  EXPECT_FALSE(read_file(dir / "f", 99'999));
  EXPECT_FALSE(read_file(dir / "f", 0));
}

TEST(ReadFile, ReadsFilesThatDoNotKnowTheirSize) {
  // /proc files say that they are empty.
  const auto status = read_file("/proc/self/status");
  ASSERT_TRUE(status);
  EXPECT_NE(status->find("\nPid:"), std::string::npos);
  EXPECT_FALSE(read_file("/proc/self/status", 10));
}

TEST(ReadFile, RefusesDirectoriesAndMissingFiles) {
  const ScratchDir dir;
  EXPECT_FALSE(read_file(dir.path()));
  EXPECT_FALSE(read_file(dir / "missing"));
  ASSERT_TRUE(write_file_atomic(dir / "empty", ""));
  EXPECT_EQ(read_file(dir / "empty").value(), "");
}

TEST(WriteFileAtomic, ReplacesTheContentAndLeavesNothingElse) {
  const ScratchDir dir;
  ASSERT_TRUE(write_file_atomic(dir / "f", "old and long"));
  ASSERT_TRUE(write_file_atomic(dir / "f", "new"));
  EXPECT_EQ(read_file(dir / "f").value(), "new");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(dir.path()), {}), 1);
}

TEST(WriteFileAtomic, WritesThroughLinksAndIntoPipes) {
  const ScratchDir scratch;
  const auto dir = std::filesystem::path(scratch.path());
  ASSERT_TRUE(write_file_atomic(dir / "real", "old"));
  std::filesystem::create_symlink("real", dir / "link");
  ASSERT_TRUE(write_file_atomic(dir / "link", "new"));
  EXPECT_TRUE(std::filesystem::is_symlink(dir / "link"));
  EXPECT_EQ(read_file(dir / "real").value(), "new");
  std::filesystem::create_symlink("later", dir / "ahead");
  ASSERT_TRUE(write_file_atomic(dir / "ahead", "first"));
  EXPECT_TRUE(std::filesystem::is_symlink(dir / "ahead"));
  EXPECT_EQ(read_file(dir / "later").value(), "first");

  ASSERT_EQ(::mkfifo((dir / "pipe").c_str(), 0600), 0);
  const UniqueFd reader(::open((dir / "pipe").c_str(), O_RDONLY | O_NONBLOCK));
  ASSERT_TRUE(write_file_atomic(dir / "pipe", "through"));
  std::array<char, 16> got{};
  EXPECT_EQ(::read(reader.get(), got.data(), got.size()), 7);
  EXPECT_TRUE(std::filesystem::is_fifo(dir / "pipe"));
}

TEST(WriteFileAtomic, KeepsTheOldFileWhenItFails) {
  const ScratchDir dir;
  std::filesystem::create_directory(dir / "taken");
  ASSERT_TRUE(write_file_atomic(dir / "taken/inside", "x"));
  EXPECT_FALSE(write_file_atomic(dir / "taken", "cannot replace a directory"));
  EXPECT_FALSE(write_file_atomic(dir / "missing/f", "x"));
  EXPECT_EQ(read_file(dir / "taken/inside").value(), "x");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(dir.path()), {}), 1);
}

}  // namespace
}  // namespace gantry
