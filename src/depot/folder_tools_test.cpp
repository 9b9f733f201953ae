#include "depot/folder_tools.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <fstream>

#include "base/scratch_dir.hpp"
#include "depot/file_tools.hpp"

namespace gantry::depot {
namespace {

class FolderToolsTest : public ::testing::Test {
 protected:
  ScratchDir dir_;
  UniqueFd fd_ = open_file(dir_.path(), O_RDONLY | O_DIRECTORY).value();
};

TEST_F(FolderToolsTest, RemovesFilesFoldersAndWhatIsNotThere) {
  std::filesystem::create_directories(dir_ / "a/b/c");
  std::ofstream(dir_ / "a/b/file") << "x";
  std::ofstream(dir_ / "file") << "x";
  EXPECT_TRUE(remove_tree(fd_.get(), "a"));
  EXPECT_TRUE(remove_tree(fd_.get(), "file"));
  EXPECT_TRUE(remove_tree(fd_.get(), "nothing"));
  EXPECT_TRUE(std::filesystem::is_empty(dir_.path()));
}

TEST_F(FolderToolsTest, FollowsNoLinks) {
  std::filesystem::create_directories(dir_ / "kept");
  std::ofstream(dir_ / "kept/file") << "x";
  ::chmod((dir_ / "kept").c_str(), 0555);
  std::filesystem::create_directories(dir_ / "a");
  std::filesystem::create_symlink(dir_ / "kept", dir_ / "a/link");
  std::filesystem::create_symlink(dir_ / "kept", dir_ / "link");
  EXPECT_TRUE(remove_tree(fd_.get(), "a"));
  EXPECT_TRUE(remove_tree(fd_.get(), "link"));
  EXPECT_TRUE(std::filesystem::exists(dir_ / "kept/file"));
  struct stat info {};
  ASSERT_EQ(::stat((dir_ / "kept").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777U, 0555U);
  ::chmod((dir_ / "kept").c_str(), 0755);
}

TEST_F(FolderToolsTest, RemovesWhatWasMadeReadOnly) {
  std::filesystem::create_directories(dir_ / "a/b/c");
  std::ofstream(dir_ / "a/b/file") << "x";
  for (const char* name : {"a/b/c", "a/b", "a"}) ::chmod((dir_ / name).c_str(), 0);
  EXPECT_TRUE(remove_tree(fd_.get(), "a"));
  EXPECT_FALSE(std::filesystem::exists(dir_ / "a"));
}

TEST_F(FolderToolsTest, RemovesWhatIsDeeperThanThereAreDescriptors) {
  UniqueFd at = open_file(dir_.path(), O_RDONLY | O_DIRECTORY).value();
  for (int i = 0; i < 150; ++i) {
    ASSERT_EQ(::mkdirat(at.get(), "deep", 0700), 0);
    UniqueFd next(::openat(at.get(), "deep", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    ASSERT_TRUE(next);
    at = std::move(next);
  }
  at.reset();
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit few{128, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
  const auto removed = remove_tree(fd_.get(), "deep");
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_TRUE(removed) << removed.error().message;
  EXPECT_TRUE(std::filesystem::is_empty(dir_.path()));
}

TEST_F(FolderToolsTest, NamesThatStayBelow) {
  for (const char* path : {"a", "a/b", "..a/b..", "work/1/out put"}) EXPECT_TRUE(is_below(path));
  for (const char* path : {"", "/", "/a", "a/", "a//b", ".", "..", "a/../b", "a/./b", "../a"})
    EXPECT_FALSE(is_below(path)) << path;
  EXPECT_FALSE(is_below(std::string("a\0b", 3)));
  EXPECT_FALSE(is_below(std::string(5000, 'a')));
}

TEST_F(FolderToolsTest, OpensOnlyWhatIsBelow) {
  std::filesystem::create_directories(dir_ / "work/1");
  std::ofstream(dir_ / "work/1/in") << "x";
  std::ofstream(dir_ / "out") << "x";
  std::filesystem::create_symlink(dir_ / "out", dir_ / "work/absolute");
  std::filesystem::create_symlink("../out", dir_ / "work/relative");
  std::filesystem::create_symlink("..", dir_ / "work/folder");
  std::filesystem::create_symlink("1", dir_ / "work/inner");
  const UniqueFd work = open_file(dir_ / "work", O_RDONLY | O_DIRECTORY).value();
  EXPECT_TRUE(open_below(work.get(), "1/in", O_RDONLY));
  EXPECT_TRUE(open_below(work.get(), "inner/in", O_RDONLY));
  EXPECT_FALSE(open_below(work.get(), "absolute", O_RDONLY));
  EXPECT_FALSE(open_below(work.get(), "relative", O_RDONLY));
  EXPECT_FALSE(open_below(work.get(), "folder/out", O_RDONLY));
  EXPECT_EQ(open_below(work.get(), "2", O_RDONLY).error().code, ErrorCode::gone);
  // As old kernels do it.
  EXPECT_TRUE(walk_below(work.get(), "1/in", O_RDONLY));
  for (const char* path : {"inner/in", "absolute", "relative", "folder/out"})
    EXPECT_FALSE(walk_below(work.get(), path, O_RDONLY)) << path;
  EXPECT_EQ(walk_below(work.get(), "1/2", O_RDONLY).error().code, ErrorCode::gone);
}

TEST_F(FolderToolsTest, DoesNotWaitForAPipe) {
  ASSERT_EQ(::mkfifo((dir_ / "pipe").c_str(), 0600), 0);
  EXPECT_TRUE(open_below(fd_.get(), "pipe", O_RDONLY));
}

}  // namespace
}  // namespace gantry::depot
