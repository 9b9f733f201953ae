#include "agent/task_files.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cerrno>
#include <chrono>
#include <thread>

#include "base/fd.hpp"
#include "base/scratch_dir.hpp"

namespace gantry::agent {
namespace {

class TaskFilesTest : public ::testing::Test {
 protected:
  void write(const std::string& name, const std::string& text) {
    ASSERT_TRUE(write_file_atomic(dir_ / name, text));
  }
  ScratchDir dir_;
  /// Long enough ago for the clock of the file system.
  void age(const std::string& name) {
    const timespec times[2]{{1'000'000'000, 0}, {1'000'000'000, 0}};
    ASSERT_EQ(::utimensat(AT_FDCWD, (dir_ / name).c_str(), times, 0), 0);
    std::this_thread::sleep_for(std::chrono::milliseconds(40));  // its change time is now
  }
  Start start_;
  OldFiles old_;
};

TEST_F(TaskFilesTest, MakesTheWorkingDirectoryOnlyWhenAsked) {
  start_.workdir = dir_ / "a/b";
  EXPECT_FALSE(prepare_files(start_, old_));
  EXPECT_FALSE(std::filesystem::exists(dir_ / "a"));
  start_.make_workdir = true;
  EXPECT_FALSE(prepare_files(start_, old_));
  EXPECT_TRUE(std::filesystem::is_directory(dir_ / "a/b"));
  EXPECT_FALSE(prepare_files(start_, old_));  // there already
}

TEST_F(TaskFilesTest, NamesWhatIsInTheWay) {
  write("file", "");
  start_.workdir = dir_ / "file/below";
  start_.make_workdir = true;
  const auto problem = prepare_files(start_, old_);
  ASSERT_TRUE(problem);
  EXPECT_EQ(problem->first, ENOTDIR);
  EXPECT_NE(problem->second.find(start_.workdir), std::string::npos);
  Start output;
  output.outputs = {dir_ / "file/out"};
  EXPECT_EQ(prepare_files(output, old_)->first, ENOTDIR);
}

TEST_F(TaskFilesTest, MakesRoomForOutputsAndDeletesNothing) {
  write("old", "kept");
  std::filesystem::create_symlink("/dev/null", dir_ / "link");
  start_.outputs = {dir_ / "old", dir_ / "new/deep/file", dir_ / "link", "/dev/null"};
  start_.collect = {dir_ / "old"};
  EXPECT_FALSE(prepare_files(start_, old_));
  EXPECT_EQ(read_file(dir_ / "old").value(), "kept");
  EXPECT_TRUE(std::filesystem::is_symlink(dir_ / "link"));
  EXPECT_TRUE(std::filesystem::is_directory(dir_ / "new/deep"));
}

TEST_F(TaskFilesTest, AnOldFileThatWasNotWrittenIsNoOutput) {
  write("old", "1");
  age("old");
  start_.outputs = {dir_ / "old"};
  EXPECT_FALSE(prepare_files(start_, old_));
  EXPECT_EQ(missing_output(start_, old_),
            (dir_ / "old").string() + " was there before and the task did not write it");
  write("old", "2");  // the same length
  EXPECT_FALSE(missing_output(start_, old_));
  start_.outputs.clear();
  start_.collect = {dir_ / "old"};
  age("old");
  EXPECT_FALSE(prepare_files(start_, old_));
  EXPECT_TRUE(missing_output(start_, old_));
}

TEST_F(TaskFilesTest, AResultFileThatIsAnInputNeedNotBeWritten) {
  write("table", "1");
  age("table");
  start_.collect = start_.only_read = {dir_ / "table"};
  EXPECT_FALSE(prepare_files(start_, old_));
  EXPECT_FALSE(missing_output(start_, old_));
  start_.outputs = {dir_ / "table"};
  EXPECT_FALSE(prepare_files(start_, old_));
  EXPECT_TRUE(missing_output(start_, old_)) << "an output must be";
}

TEST_F(TaskFilesTest, AFileOfAMomentAgoMayBeThisTasks) {
  write("fresh", "1");
  start_.outputs = {dir_ / "fresh"};
  EXPECT_FALSE(prepare_files(start_, old_));
  EXPECT_FALSE(missing_output(start_, old_));
}

TEST_F(TaskFilesTest, TellsTheFirstOutputThatIsMissing) {
  write("there", "");
  start_.outputs = {dir_ / "there", dir_ / "one", dir_ / "two"};
  EXPECT_EQ(missing_output(start_, old_), (dir_ / "one").string());
  std::filesystem::create_directory(dir_ / "one");
  std::filesystem::create_symlink("nowhere", dir_ / "two");
  EXPECT_EQ(missing_output(start_, old_), (dir_ / "two").string());  // a link to nothing is nothing
  start_.outputs = {dir_ / "there", dir_ / "one"};
  EXPECT_FALSE(missing_output(start_, old_));
}

TEST_F(TaskFilesTest, CollectsPlainFilesOfReasonableSize) {
  write("small", "42");
  write("empty", "");
  write("large", std::string(kMaxCollected, 'x'));
  write("larger", std::string(kMaxCollected + 1, 'x'));
  ASSERT_EQ(::mkfifo((dir_ / "pipe").c_str(), 0600), 0);
  for (const char* name : {"small", "missing", "empty", "larger", "pipe", "large"})
    start_.collect.push_back(dir_ / name);
  const auto files = collect_files(start_);
  ASSERT_EQ(files.size(), 3U);
  EXPECT_EQ(files[0], std::pair((dir_ / "small").string(), std::string("42")));
  EXPECT_EQ(files[1].second, "");
  EXPECT_EQ(files[2].second.size(), kMaxCollected);
}

TEST_F(TaskFilesTest, CollectsNotMoreThanAMessageHolds) {
  write("large", std::string(kMaxCollectedTogether / 3, 'x'));
  for (int i = 0; i < 100; ++i) start_.collect.push_back(dir_ / "large");
  std::size_t sum = 0;
  for (const auto& [path, content] : collect_files(start_)) sum += content.size();
  EXPECT_EQ(sum, kMaxCollectedTogether);
  EXPECT_LT(sum, kMaxFrame / 2);
}

}  // namespace
}  // namespace gantry::agent
