#include "agent/task_files.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cerrno>

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
  Start start_;
};

TEST_F(TaskFilesTest, MakesTheWorkingDirectoryOnlyWhenAsked) {
  start_.workdir = dir_ / "a/b";
  EXPECT_FALSE(prepare_files(start_));
  EXPECT_FALSE(std::filesystem::exists(dir_ / "a"));
  start_.make_workdir = true;
  EXPECT_FALSE(prepare_files(start_));
  EXPECT_TRUE(std::filesystem::is_directory(dir_ / "a/b"));
  EXPECT_FALSE(prepare_files(start_));  // there already
}

TEST_F(TaskFilesTest, NamesWhatIsInTheWay) {
  write("file", "");
  start_.workdir = dir_ / "file/below";
  start_.make_workdir = true;
  const auto problem = prepare_files(start_);
  ASSERT_TRUE(problem);
  EXPECT_EQ(problem->first, ENOTDIR);
  EXPECT_NE(problem->second.find(start_.workdir), std::string::npos);
  Start output;
  output.outputs = {dir_ / "file/out"};
  EXPECT_EQ(prepare_files(output)->first, ENOTDIR);
}

TEST_F(TaskFilesTest, RemovesOldOutputsAndMakesRoomForNewOnes) {
  write("old", "stale");
  write("results.json", "stale");
  std::filesystem::create_symlink("/etc/passwd", dir_ / "link");
  std::filesystem::create_directory(dir_ / "folder");
  write("folder/more", "kept");
  start_.outputs = {dir_ / "old", dir_ / "new/deep/file", dir_ / "folder", dir_ / "link"};
  start_.collect = {dir_ / "results.json"};
  EXPECT_FALSE(prepare_files(start_));
  EXPECT_FALSE(std::filesystem::exists(dir_ / "old"));
  EXPECT_FALSE(std::filesystem::exists(dir_ / "results.json"));
  EXPECT_FALSE(std::filesystem::is_symlink(dir_ / "link"));
  EXPECT_TRUE(std::filesystem::exists("/etc/passwd"));
  EXPECT_TRUE(std::filesystem::is_directory(dir_ / "new/deep"));
  EXPECT_TRUE(std::filesystem::exists(dir_ / "folder/more"));
}

TEST_F(TaskFilesTest, TellsTheFirstOutputThatIsMissing) {
  write("there", "");
  start_.outputs = {dir_ / "there", dir_ / "one", dir_ / "two"};
  EXPECT_EQ(missing_output(start_), (dir_ / "one").string());
  std::filesystem::create_directory(dir_ / "one");
  std::filesystem::create_symlink("nowhere", dir_ / "two");
  EXPECT_EQ(missing_output(start_), (dir_ / "two").string());  // a link to nothing is nothing
  start_.outputs = {dir_ / "there", dir_ / "one"};
  EXPECT_FALSE(missing_output(start_));
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
  write("large", std::string(kMaxCollected, 'x'));
  for (int i = 0; i < 100; ++i) start_.collect.push_back(dir_ / "large");
  std::size_t sum = 0;
  for (const auto& [path, content] : collect_files(start_)) sum += content.size();
  EXPECT_EQ(sum, kMaxCollectedTogether);
  EXPECT_LT(sum, kMaxFrame / 2);
}

}  // namespace
}  // namespace gantry::agent
