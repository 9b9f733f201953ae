// A full disk: an error that says so, nothing half-stored, and what has arrived of a large file
// stays until there is room. On a file system of the test's own, which needs root.
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>

#include <cstring>
#include <thread>

#include "base/scratch_dir.hpp"
#include "depot/depot.hpp"
#include "depot/incoming_file.hpp"

namespace gantry::depot {
namespace {

/// Runs the test in a thread that alone sees a tmpfs of 512 KiB; it goes with the thread.
template <class Test>
void on_small_disk(const Test& test) {
  const ScratchDir dir;
  std::string problem;
  std::thread([&] {
    if (::unshare(CLONE_NEWNS) != 0 ||
        ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        ::mount("tmpfs", dir.path().c_str(), "tmpfs", 0, "size=512k") != 0) {
      problem = std::strerror(errno);
      return;
    }
    test(dir.path());
    ::umount2(dir.path().c_str(), MNT_DETACH);
  }).join();
  if (!problem.empty()) GTEST_SKIP() << "NOT TESTED: full disks. Mounting needs root: " << problem;
}

bool says_full(const Result<>& result) {
  return !result && result.error().message.find("No space left on device") != std::string::npos;
}

std::size_t files_in(const std::filesystem::path& folder) {
  return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(folder), {}));
}

TEST(DepotFull, SmallFilesAreStoredOrNot) {
  on_small_disk([](const std::filesystem::path& disk) {
    Depot depot = Depot::open(disk).value();
    std::size_t stored = 0;
    Result<> result;
    for (char c = 'a'; c <= 'z' && result; ++c) {
      const std::string content(100'000, c);
      result = depot.store(hash_bytes(content), content, false);
      stored += result ? 1 : 0;
    }
    EXPECT_TRUE(says_full(result));
    EXPECT_GT(stored, 2U);
    EXPECT_EQ(depot.list().value().size(), stored);
    EXPECT_EQ(files_in(depot.folder() / "partial"), 0U);
  });
}

TEST(DepotFull, ALargeFileGoesOnWhenThereIsRoom) {
  on_small_disk([](const std::filesystem::path& disk) {
    Depot depot = Depot::open(disk).value();
    std::string content(900'000, 'x');
    for (std::size_t i = 0; i < content.size(); i += 1000) content[i] = static_cast<char>(i / 1000);
    const StoredFile file{hash_bytes(content), content.size()};
    std::uint64_t there = 0;
    {
      IncomingFile first(depot, file, false, "me");
      Result<> written;
      while (written && !first.is_whole())
        written = first.write(std::string_view(content).substr(first.offset(), 100'000));
      EXPECT_TRUE(says_full(written));
      there = first.offset();
    }
    EXPECT_GT(there, 200'000U);
    EXPECT_TRUE(depot.list().value().empty());
    EXPECT_EQ(files_in(depot.folder() / "partial"), 1U);

    ASSERT_EQ(::mount("tmpfs", disk.c_str(), "tmpfs", MS_REMOUNT, "size=4m"), 0);
    IncomingFile second(depot, file, false, "me");
    EXPECT_EQ(second.offset(), there);
    ASSERT_TRUE(second.write(std::string_view(content).substr(there)));
    while (!second.is_read()) ASSERT_TRUE(second.read_some(100'000));
    ASSERT_TRUE(second.finish());
    EXPECT_TRUE(depot.verify(file.content));
    EXPECT_EQ(files_in(depot.folder() / "partial"), 0U);
  });
}

}  // namespace
}  // namespace gantry::depot
