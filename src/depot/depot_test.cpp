#include "depot/depot.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "base/scratch_dir.hpp"

namespace gantry::depot {
namespace {

class DepotTest : public ::testing::Test {
 protected:
  Digest store(const std::string& content, bool executable = false) {
    const Digest digest = hash_bytes(content);
    const auto stored = depot_.store(digest, content, executable);
    EXPECT_TRUE(stored) << stored.error().message;
    return digest;
  }
  std::filesystem::path place(const Digest& content) {
    return depot_.folder() / Depot::name_of(content);
  }
  static struct stat info_of(const std::filesystem::path& path) {
    struct stat info {};
    EXPECT_EQ(::stat(path.c_str(), &info), 0) << path;
    return info;
  }
  /// As a task would that runs as root, or takes the permission first.
  void overwrite(const std::filesystem::path& path, const std::string& content) {
    ::chmod(path.c_str(), 0644);
    std::ofstream(path, std::ios::binary | std::ios::in) << content;
  }
  std::string link(const Digest& content, const std::string& name, bool executable = false) {
    const auto linked = depot_.link_into(content, dir_ / name, executable);
    return linked ? "" : linked.error().message;
  }

  ScratchDir dir_;
  Depot depot_ = Depot::open(dir_.path()).value();
};

TEST_F(DepotTest, KeepsFilesByTheirContentReadOnly) {
  const Digest content = store("hello");
  EXPECT_TRUE(depot_.has(content));
  EXPECT_FALSE(depot_.has(hash_bytes("other")));
  EXPECT_EQ(read_file(place(content)).value(), "hello");
  EXPECT_EQ(info_of(place(content)).st_mode & 0777U, 0444U);
  EXPECT_EQ(depot_.list().value(), (std::vector<StoredFile>{{content, 5}}));
  EXPECT_TRUE(std::filesystem::is_empty(depot_.folder() / "partial"));
}

TEST_F(DepotTest, DoesNotTakeWhatIsNotThatContent) {
  const auto stored = depot_.store(hash_bytes("this"), "that", false);
  ASSERT_FALSE(stored);
  EXPECT_EQ(stored.error().code, ErrorCode::corrupt);
  EXPECT_TRUE(depot_.list().value().empty());
}

TEST_F(DepotTest, LinksAFileToATasksPlace) {
  const Digest content = store("input");
  EXPECT_EQ(link(content, "work/1/in/a"), "");
  EXPECT_EQ(read_file(dir_ / "work/1/in/a").value(), "input");
  EXPECT_EQ(info_of(dir_ / "work/1/in/a").st_ino, info_of(place(content)).st_ino);
  // Again, and in place of something else.
  EXPECT_EQ(link(content, "work/1/in/a"), "");
  std::ofstream(dir_ / "work/1/b") << "old";
  EXPECT_EQ(link(content, "work/1/b"), "");
  EXPECT_EQ(read_file(dir_ / "work/1/b").value(), "input");
  EXPECT_EQ(info_of(place(content)).st_nlink, 3U);
}

TEST_F(DepotTest, AFileIsExecutableWhenSomebodyWantsItSo) {
  const Digest program = store("#!/bin/sh\n");
  EXPECT_EQ(link(program, "work/run", true), "");
  EXPECT_EQ(info_of(dir_ / "work/run").st_mode & 0777U, 0555U);
  EXPECT_TRUE(depot_.has(program));
  EXPECT_EQ(info_of(place(store("#!/bin/true\n", true))).st_mode & 0777U, 0555U);
}

TEST_F(DepotTest, KnowsWhetherWhatATaskReadMayHaveBeenSomethingElse) {
  const Digest content = store("12345");
  const ino_t one = depot_.link_into(content, dir_ / "one/in", false).value();
  const ino_t two = depot_.link_into(content, dir_ / "two/in", false).value();
  EXPECT_FALSE(depot_.is_spoilt(content, dir_ / "one/in", one));
  // A task may have its own file in that place, or none.
  std::filesystem::remove(dir_ / "one/in");
  EXPECT_FALSE(depot_.is_spoilt(content, dir_ / "one/in", one));
  std::ofstream(dir_ / "one/in") << "mine";
  EXPECT_FALSE(depot_.is_spoilt(content, dir_ / "one/in", one));
  // Who writes to the depot's file writes to everybody's.
  overwrite(place(content), "x");
  EXPECT_TRUE(depot_.is_spoilt(content, dir_ / "two/in", two));
  EXPECT_TRUE(depot_.is_spoilt(content, dir_ / "one/in", one));
  EXPECT_FALSE(depot_.has(content));
  EXPECT_TRUE(depot_.is_spoilt(content, dir_ / "two/in", two)) << "also when it has been removed";
  store("12345");
  EXPECT_TRUE(depot_.is_spoilt(content, dir_ / "two/in", two)) << "also when it has come again";
  EXPECT_FALSE(depot_.is_spoilt(content, dir_ / "two/in", 0)) << "a copy is the task's own";
}

TEST_F(DepotTest, NoticesWhatATaskDidToAFile) {
  const Digest content = store("12345");
  EXPECT_EQ(link(content, "work/in"), "");
  overwrite(dir_ / "work/in", "54321");
  EXPECT_TRUE(depot_.list().value().empty()) << "not before it has been read again";
  const auto linked = depot_.link_into(content, dir_ / "work/other", false);
  ASSERT_FALSE(linked);
  EXPECT_EQ(linked.error().code, ErrorCode::corrupt);
  EXPECT_FALSE(std::filesystem::exists(place(content)));
  EXPECT_EQ(depot_.check(content).error().code, ErrorCode::gone);
  // It can come again.
  store("12345");
  EXPECT_EQ(link(content, "work/other"), "");
}

TEST_F(DepotTest, AFileThatWasOnlyTouchedIsReadAndKept) {
  const Digest content = store("12345");
  ASSERT_EQ(::utimensat(AT_FDCWD, place(content).c_str(), nullptr, 0), 0);
  EXPECT_TRUE(depot_.list().value().empty());
  EXPECT_TRUE(depot_.has(content));
  EXPECT_EQ(depot_.list().value().size(), 1U);
}

TEST_F(DepotTest, NoticesAFileThatAPowerLossCut) {
  const Digest content = store("12345");
  const timespec stamp = info_of(place(content)).st_mtim;
  ASSERT_EQ(::truncate(place(content).c_str(), 0), 0);
  const timespec times[2] = {{0, UTIME_NOW}, stamp};
  ASSERT_EQ(::utimensat(AT_FDCWD, place(content).c_str(), times, 0), 0);
  EXPECT_FALSE(depot_.has(content));
}

TEST_F(DepotTest, VerifyReadsAlsoWhatLooksUntouched) {
  const Digest content = store("12345");
  const timespec stamp = info_of(place(content)).st_mtim;
  overwrite(place(content), "54321");
  const timespec times[2] = {{0, UTIME_NOW}, stamp};
  ASSERT_EQ(::utimensat(AT_FDCWD, place(content).c_str(), times, 0), 0);
  EXPECT_TRUE(depot_.has(content));
  EXPECT_EQ(depot_.verify(content).error().code, ErrorCode::corrupt);
  EXPECT_EQ(depot_.verify(content).error().code, ErrorCode::gone);
}

TEST_F(DepotTest, CopiesWhereItCannotLink) {
  const ScratchDir elsewhere("/dev/shm");
  if (info_of(elsewhere.path()).st_dev == info_of(dir_.path()).st_dev)
    GTEST_SKIP() << "NOT TESTED: /dev/shm is the same file system as the temporary folder";
  const Digest content = store("input");
  EXPECT_EQ(depot_.link_into(content, elsewhere / "a", true).value(), 0U);
  EXPECT_EQ(read_file(elsewhere / "a").value(), "input");
  EXPECT_EQ(info_of(elsewhere / "a").st_mode & 0777U, 0555U);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(elsewhere.path()), {}), 1);
}

TEST_F(DepotTest, RemovesWhatNobodyUses) {
  const Digest content = store("input");
  EXPECT_EQ(link(content, "work/in"), "");
  EXPECT_EQ(depot_.remove(content).error().code, ErrorCode::busy);
  std::filesystem::remove(dir_ / "work/in");
  EXPECT_TRUE(depot_.remove(content));
  EXPECT_FALSE(depot_.has(content));
  EXPECT_TRUE(depot_.remove(content));
}

TEST_F(DepotTest, TwoUseItAtOnce) {
  Depot other = Depot::open(dir_.path()).value();
  const Digest content = store("input");
  EXPECT_TRUE(other.has(content));
  EXPECT_TRUE(other.store(content, "input", false));
  EXPECT_TRUE(other.remove(content));
  EXPECT_EQ(depot_.link_into(content, dir_ / "a", false).error().code, ErrorCode::gone);
}

TEST_F(DepotTest, OldPartialFilesGo) {
  const auto old = depot_.folder() / "partial/old";
  const auto fresh = depot_.folder() / "partial/fresh";
  std::ofstream(old) << "x";
  std::ofstream(fresh) << "x";
  timespec times[2] = {};
  ::clock_gettime(CLOCK_REALTIME, &times[0]);
  times[0].tv_sec -= 24 * 3600 + 60;
  times[1] = times[0];
  ASSERT_EQ(::utimensat(AT_FDCWD, old.c_str(), times, 0), 0);
  depot_.remove_old_partials();
  EXPECT_FALSE(std::filesystem::exists(old));
  EXPECT_TRUE(std::filesystem::exists(fresh));
}

TEST_F(DepotTest, PlainNames) {
  for (const char* name : {"a", "run-1", "host.example_2", "0"}) EXPECT_TRUE(is_plain_name(name));
  for (const char* name : {"", ".", "..", ".a", "a/b", "a b", "\n", "\xc3\xa4"})
    EXPECT_FALSE(is_plain_name(name)) << name;
  EXPECT_TRUE(is_plain_name(std::string(64, 'a')));
  EXPECT_FALSE(is_plain_name(std::string(65, 'a')));
}

// Room.
// ---------------------------------------------------------------------------------------------

class DepotQuotaTest : public DepotTest {
 protected:
  DepotQuotaTest() { depot_ = Depot::open(dir_.path(), 1000).value(); }

  Digest file(char letter, std::size_t bytes = 300) {
    const Digest content = store(std::string(bytes, letter));
    set_age(content, next_age_--);
    return content;
  }
  /// Last used so many minutes ago.
  void set_age(const Digest& content, int minutes) {
    timespec times[2] = {};
    ::clock_gettime(CLOCK_REALTIME, &times[0]);
    times[0].tv_sec -= std::int64_t{60} * minutes;
    times[1].tv_nsec = UTIME_OMIT;
    ASSERT_EQ(::utimensat(AT_FDCWD, place(content).c_str(), times, 0), 0);
  }
  std::uint64_t held() {
    std::uint64_t bytes = 0;
    const auto files = depot_.list().value();
    for (const auto& stored : files) bytes += stored.bytes;
    return bytes;
  }

  int next_age_ = 100;
};

TEST_F(DepotQuotaTest, EvictsWhatWasNotUsedForLongest) {
  const Digest a = file('a');
  const Digest b = file('b');
  const Digest c = file('c');
  EXPECT_EQ(link(a, "x"), "");  // uses it
  std::filesystem::remove(dir_ / "x");
  const Digest d = file('d');
  EXPECT_TRUE(depot_.has(a));
  EXPECT_FALSE(depot_.has(b));
  EXPECT_TRUE(depot_.has(c));
  EXPECT_TRUE(depot_.has(d));
}

TEST_F(DepotQuotaTest, NeverHoldsMoreHoweverManyCome) {
  for (char letter = 'a'; letter <= 'z'; ++letter) {
    file(letter, 100 + static_cast<std::size_t>(letter));
    EXPECT_LE(held(), 1000U);
  }
  EXPECT_GT(held(), 500U);
}

TEST_F(DepotQuotaTest, DoesNotEvictWhatIsHeld) {
  const Digest linked = file('a');
  const Digest also_linked = file('b');
  const Digest free = file('c');
  EXPECT_EQ(link(linked, "work/in"), "");
  EXPECT_EQ(link(also_linked, "work/too"), "");
  file('d');
  EXPECT_FALSE(depot_.has(free));
  EXPECT_TRUE(depot_.has(linked));
  EXPECT_TRUE(depot_.has(also_linked));
  const std::string more(500, 'e');
  const auto stored = depot_.store(hash_bytes(more), more, false);
  ASSERT_FALSE(stored);
  EXPECT_NE(stored.error().message.find("the depot may hold 1000 bytes"), std::string::npos)
      << stored.error().message;
  std::filesystem::remove(dir_ / "work/too");
  EXPECT_TRUE(depot_.store(hash_bytes(more), more, false));
  EXPECT_FALSE(depot_.has(also_linked));
}

TEST_F(DepotQuotaTest, WhatIsUsedAfterItWasChosenStays) {
  const Digest a = file('a', 10);
  const Digest b = file('b', 500);
  const Digest c = file('c', 480);
  file('d', 20);  // evicts a; b would be next
  EXPECT_FALSE(depot_.has(a));
  ASSERT_TRUE(Depot::open(dir_.path()).value().keep(b, false));
  file('e', 20);
  EXPECT_TRUE(depot_.has(b));
  EXPECT_FALSE(depot_.has(c));
}

TEST_F(DepotQuotaTest, SeesWhatOthersBrought) {
  file('a', 100);
  {
    Depot other = Depot::open(dir_.path()).value();  // without a limit
    const std::string much(900, 'o');
    ASSERT_TRUE(other.store(hash_bytes(much), much, false));
  }
  for (char letter = 'b'; letter <= 'h'; ++letter) file(letter, 100);
  EXPECT_LE(held(), 1000U);
}

TEST_F(DepotQuotaTest, RefusesWhatCanNeverFitAndEvictsNothingForIt) {
  const Digest a = file('a');
  EXPECT_FALSE(depot_.make_room(1001));
  EXPECT_TRUE(depot_.has(a));
}

}  // namespace
}  // namespace gantry::depot
