#include "driver/content_cache.hpp"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/stat.h>

#include <fstream>
#include <thread>

#include "driver/driver_fixture.hpp"

namespace gantry::driver {
namespace {

using Changed = ContentCache::Changed;

class ContentCacheTest : public DriverTest {};

TEST_F(ContentCacheTest, SeesAChangeOfContentDuringTheRun) {
  auto store = open_store();
  ContentCache cache(store);
  write("input", "one");
  const auto before = cache.digest((dir_ / "input").string());
  ASSERT_TRUE(before);
  EXPECT_EQ(*before, hash_bytes("one"));
  write("input", "two!");
  const auto after = cache.digest((dir_ / "input").string());
  ASSERT_TRUE(after);
  EXPECT_EQ(*after, hash_bytes("two!"));
}

TEST_F(ContentCacheTest, SeesAChangeThatHidesBehindSizeAndTime) {
  auto store = open_store();
  const auto path = dir_ / "input";
  write("input", "one");
  const auto time = std::filesystem::last_write_time(path);
  // Both the first look, when the file is too new to be remembered, and one when it is not.
  for (const std::string content : {"two", "six"}) {
    ContentCache cache(store);
    ASSERT_TRUE(cache.digest(path.string()));
    std::ofstream(path) << content;  // in place: the inode stays
    std::filesystem::last_write_time(path, time);
    EXPECT_EQ(cache.digest(path.string()).value(), hash_bytes(content));
    ::usleep(50'000);
    EXPECT_EQ(cache.digest(path.string()).value(), hash_bytes(content));
  }
}

TEST_F(ContentCacheTest, ADirectoryIsItsFilesAndTheirNames) {
  auto store = open_store();
  ContentCache cache(store);
  std::filesystem::create_directories(dir_ / "tree/sub");
  write("tree/a", "1");
  write("tree/sub/b", "2");
  const auto before = cache.digest((dir_ / "tree").string());
  ASSERT_TRUE(before);
  std::filesystem::rename(dir_ / "tree/sub/b", dir_ / "tree/sub/c");
  EXPECT_NE(cache.digest((dir_ / "tree").string()).value(), *before);
}

TEST_F(ContentCacheTest, TheStateDirectoryIsPartOfNoFolder) {
  auto store = open_store();
  ContentCache cache(store, options_.state_dir);
  write("a", "1");
  const auto before = cache.digest(dir_.string());
  write("state/news", "1");
  EXPECT_EQ(cache.digest(dir_.string()).value(), before.value());
  write("other", "1");
  EXPECT_NE(cache.digest(dir_.string()).value(), before.value());
}

TEST_F(ContentCacheTest, TellsWhatChangedSinceATaskUsedItOnceARound) {
  auto store = open_store();
  ContentCache cache(store);
  Task task;
  task.argv = {"true"};
  task.inputs = {(dir_ / "a").string(), (dir_ / "b").string()};
  write("a", "1");
  write("b", "1");
  std::vector<ContentCache::Used> used;
  ASSERT_TRUE(cache.fingerprint(task, {}, &used));
  ASSERT_EQ(used.size(), 2U);
  EXPECT_EQ(cache.has_changed(used[1]), Changed::no);
  write("b", "2");
  EXPECT_EQ(cache.has_changed(used[1]), Changed::no) << "it was looked at in this round";
  cache.begin_round();
  EXPECT_EQ(cache.has_changed(used[0]), Changed::no);
  EXPECT_EQ(cache.has_changed(used[1]), Changed::yes);
  write("b", "1");
  cache.begin_round();
  EXPECT_EQ(cache.has_changed(used[1]), Changed::no);
  std::filesystem::remove(dir_ / "a");
  cache.begin_round();
  EXPECT_EQ(cache.has_changed(used[0]), Changed::yes);
}

/// Until all that was asked for has been read.
void wait_for_reading(ContentCache& cache) {
  while (cache.has_read() < cache.asked_for()) {
    pollfd fd{cache.read_fd(), POLLIN, 0};
    ASSERT_EQ(::poll(&fd, 1, 120'000), 1);
    ASSERT_TRUE(cache.take_read());
  }
}

TEST_F(ContentCacheTest, LargeFilesAreReadAside) {
  auto store = open_store();
  ContentCache cache(store);
  std::filesystem::create_directory(dir_ / "folder");
  write("folder/small", "small");
  const std::string folder = (dir_ / "folder").string();
  std::filesystem::resize_file(dir_ / "folder" / "small", 1 << 20);
  for (const char* name : {"one", "two"}) {
    write(std::string("folder/") + name, name);
    std::filesystem::resize_file(dir_ / "folder" / name, 100 << 20);
  }
  {
    const ContentCache::Aside aside(cache);
    EXPECT_TRUE(cache.digest(folder + "/small"));
    EXPECT_EQ(cache.digest(folder).error().code, ErrorCode::busy);
    EXPECT_EQ(cache.files(folder).error().code, ErrorCode::busy);
    EXPECT_EQ(cache.asked_for(), 2U) << "both at once, and each once";
    wait_for_reading(cache);
    EXPECT_TRUE(cache.digest(folder));
    EXPECT_EQ(cache.files(folder).value().size(), 3U);
  }
  EXPECT_EQ(cache.digest(folder + "/one").value(), hash_file(folder + "/one").value());
}

TEST_F(ContentCacheTest, ALargeFileThatChangedIsReadAsideBeforeThatIsTold) {
  auto store = open_store();
  ContentCache cache(store);
  Task task;
  task.argv = {"true"};
  task.inputs = {(dir_ / "large").string()};
  write("large", "");
  std::filesystem::resize_file(dir_ / "large", 100 << 20);
  std::vector<ContentCache::Used> used;
  ASSERT_TRUE(cache.fingerprint(task, {}, &used));
  const auto look = [&] {
    ContentCache::Aside aside(cache, ContentCache::Reading::aside_anew);
    cache.begin_round();
    return cache.has_changed(used.front());
  };
  ASSERT_EQ(::chmod(task.inputs[0].c_str(), 0400), 0);
  std::this_thread::sleep_for(2 * kStampLag);
  EXPECT_EQ(look(), Changed::being_read);
  wait_for_reading(cache);
  EXPECT_EQ(look(), Changed::no);
  ASSERT_EQ(::chmod(task.inputs[0].c_str(), 0600), 0);
  std::filesystem::resize_file(dir_ / "large", 101 << 20);
  std::this_thread::sleep_for(2 * kStampLag);
  EXPECT_EQ(look(), Changed::being_read);
  wait_for_reading(cache);
  EXPECT_EQ(look(), Changed::yes);
}

TEST_F(ContentCacheTest, ALargeFileThatDoesNotStandStillHasChanged) {
  auto store = open_store();
  ContentCache cache(store);
  Task task;
  task.argv = {"true"};
  task.inputs = {(dir_ / "log").string()};
  write("log", "");
  std::filesystem::resize_file(dir_ / "log", 100 << 20);
  std::vector<ContentCache::Used> used;
  ASSERT_TRUE(cache.fingerprint(task, {}, &used));
  const ContentCache::Aside aside(cache, ContentCache::Reading::aside_anew);
  std::filesystem::resize_file(dir_ / "log", 101 << 20);
  cache.begin_round();
  EXPECT_EQ(cache.has_changed(used.front()), Changed::being_read);
  wait_for_reading(cache);
  std::filesystem::resize_file(dir_ / "log", 102 << 20);
  cache.begin_round();
  EXPECT_EQ(cache.has_changed(used.front()), Changed::yes);
}

TEST_F(ContentCacheTest, ItDoesNotMatterHowOftenAndWhereAnInputIsNamed) {
  auto store = open_store();
  ContentCache cache(store);
  write("sim", "1");
  write("data", "2");
  Task task;
  task.argv = {"./sim"};
  task.workdir = dir_.string();
  task.inputs = {(dir_ / "data").string()};
  const auto print = cache.fingerprint(task).value();
  task.inputs = {(dir_ / "sim").string(), dir_.string() + "/./data", (dir_ / "sim").string()};
  EXPECT_EQ(cache.fingerprint(task).value(), print);
  task.inputs = {(dir_ / "sim").string()};
  EXPECT_NE(cache.fingerprint(task).value(), print);
}

TEST_F(ContentCacheTest, WhatATaskHasMadeIsNoInputOfIt) {
  auto store = open_store();
  ContentCache cache(store);
  Task task;
  task.argv = {"sh", "-c", "make && ./sim"};
  task.workdir = dir_.string();
  task.value_files = {(dir_ / "value").string()};
  const auto before = cache.fingerprint(task).value();
  const TimePoint began = RealClock().now();
  write("sim", "made");
  write("value", "made");
  const auto now = cache.fingerprint(task).value();
  EXPECT_NE(now, before);
  EXPECT_TRUE(cache.holds(before, began, task, now).value());
  EXPECT_FALSE(cache.holds(before, began + std::chrono::hours(1), task, now).value());
  task.argv.emplace_back("other");
  EXPECT_FALSE(cache.holds(before, began, task, cache.fingerprint(task).value()).value());
}

TEST_F(ContentCacheTest, ALargeFileThatAValueNamesIsToldBySizeAndTime) {
  auto store = open_store();
  ContentCache cache(store);
  write("film", "");
  std::filesystem::resize_file(dir_ / "film", std::uintmax_t{1} << 40);  // takes no room
  Task task;
  task.argv = {"play"};
  task.value_files = {(dir_ / "film").string()};
  std::vector<ContentCache::Used> used;
  const auto before = cache
                          .fingerprint(
                              task, [] { return true; }, &used)
                          .value();
  EXPECT_EQ(cache.has_changed(used.at(0)), Changed::no);
  std::filesystem::resize_file(dir_ / "film", (std::uintmax_t{1} << 40) + 1);
  cache.begin_round();
  EXPECT_EQ(cache.has_changed(used.at(0)), Changed::yes);
  EXPECT_NE(cache.fingerprint(task).value(), before);
}

TEST_F(ContentCacheTest, WhatTasksWriteIsPartOfNoFolder) {
  auto store = open_store();
  ContentCache cache(store, options_.state_dir);
  int asked = 0;
  cache.leave_out([&] {
    ++asked;
    return std::vector{(dir_ / "out").string(), dir_.string() + "/./folder"};
  });
  write("a", "1");
  const auto before = cache.digest(dir_.string()).value();
  write("out", "1");
  std::filesystem::create_directories(dir_ / "folder");
  write("folder/b", "1");
  std::filesystem::create_directories(dir_ / "sub/.gantry");
  write("sub/.gantry/c", "1");
  EXPECT_EQ(cache.digest(dir_.string()).value(), before);
  EXPECT_EQ(asked, 1);
  write("sub/d", "1");
  EXPECT_NE(cache.digest(dir_.string()).value(), before);
}

TEST_F(ContentCacheTest, WhatAStudyWritesIsAnInputOfOthers) {
  auto store = open_store();
  ContentCache cache(store, options_.state_dir);
  ContentCache::Study writer([&] { return std::vector{(dir_ / "data/out").string()}; });
  ContentCache::Study reader;
  std::filesystem::create_directories(dir_ / "data");
  write("data/in", "1");
  Task task;
  task.inputs = {(dir_ / "data").string()};
  const auto use_as = [&](ContentCache::Study& study) {
    const ContentCache::As as(cache, study);
    std::vector<ContentCache::Used> used;
    EXPECT_TRUE(cache.fingerprint(task, {}, &used));
    return used.at(0);
  };
  const auto has_changed = [&](ContentCache::Study& study, const ContentCache::Used& used) {
    const ContentCache::As as(cache, study);
    return cache.has_changed(used);
  };
  const auto written = use_as(writer);
  const auto read = use_as(reader);
  write("data/out", "1");
  cache.begin_round();
  EXPECT_EQ(has_changed(writer, written), Changed::no);
  EXPECT_EQ(has_changed(reader, read), Changed::yes);
  const ContentCache::As as(cache, reader);
  EXPECT_EQ(cache.files(task.inputs[0])->size(), 2U);
}

TEST_F(ContentCacheTest, APipeIsNoInput) {
  auto store = open_store();
  ContentCache cache(store);
  const auto pipe = (dir_ / "pipe").string();
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const auto digest = cache.digest(pipe);  // would wait for a writer
  ASSERT_FALSE(digest);
  EXPECT_EQ(digest.error().message, pipe + ": an input must be a file or a folder");
}

TEST_F(ContentCacheTest, ReadingALargeFileCanBeStopped) {
  auto store = open_store();
  ContentCache cache(store);
  write("large", "");
  std::filesystem::resize_file(dir_ / "large", std::uintmax_t{1} << 40);  // takes no room
  int asked = 0;
  EXPECT_FALSE(cache.digest((dir_ / "large").string(), [&] { return ++asked == 3; }));
  EXPECT_EQ(asked, 3);
}

TEST_F(ContentCacheTest, AMissingInputIsNamed) {
  auto store = open_store();
  ContentCache cache(store);
  Task task;
  task.argv = {"true"};
  task.workdir = dir_.string();
  task.inputs = {(dir_ / "mesh.dat").string()};
  const auto print = cache.fingerprint(task);
  ASSERT_FALSE(print);
  EXPECT_NE(print.error().message.find("mesh.dat"), std::string::npos);
}

}  // namespace
}  // namespace gantry::driver
