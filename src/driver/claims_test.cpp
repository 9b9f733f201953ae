#include "driver/claims.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/scratch_dir.hpp"
#include "driver/real_folders.hpp"

namespace gantry::driver {
namespace {

class ClaimsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directories(dir_ / "a/sub");
    std::filesystem::create_directories(dir_ / "b");
    std::filesystem::create_directory_symlink("a", dir_ / "link");
  }

  /// The claim of a task that writes this file.
  Digest file(const std::string& path) {
    Task task;
    task.argv = {"true"};
    task.workdir = dir_ / "a";
    task.outputs = {dir_ / path};
    return claims_.of(task).at(1).digest;
  }
  /// The claim of a task that runs in this folder.
  Digest command(const std::string& folder) {
    Task task;
    task.argv = {"true"};
    task.workdir = dir_ / folder;
    return claims_.of(task).at(0).digest;
  }

  ScratchDir dir_;
  Claims claims_;
};

TEST_F(ClaimsTest, AFileIsOneHoweverItIsSpelt) {
  const Digest o = file("a/o");
  for (const char* spelling : {"b/../a/o", "a/sub/../o", "a/./o", "a//o", "a/o/", "a/o/.",
                               "a/new/../o", "link/o", "link/sub/../o", "link/../link/o"})
    EXPECT_EQ(file(spelling), o) << spelling;
  for (const char* other : {"b/o", "a/sub/o", "a/p", "link/../o", "o"})
    EXPECT_NE(file(other), o) << other;
}

TEST_F(ClaimsTest, LinksAreFoundAmongManyFolders) {
  std::filesystem::create_directory_symlink("../b", dir_ / "a/own-150");
  for (int i = 0; i < 200; ++i) {
    const std::string name = "own-" + std::to_string(i);
    EXPECT_EQ(file("a/" + name + "/o") == file("b/o"), i == 150) << i;
    EXPECT_EQ(file("a/" + name + "/o"), file("link/" + name + "/o")) << i;
    EXPECT_NE(file("new/" + name + "/o"), file("new/o")) << i;
    EXPECT_EQ(file("new/" + name + "/../o"), file("new/o")) << i;
  }
}

TEST_F(ClaimsTest, AFolderIsOneHoweverItIsSpelt) {
  const Digest here = command("a");
  for (const char* spelling : {"b/../a", "a/", "link", "a/sub/..", "link/."})
    EXPECT_EQ(command(spelling), here) << spelling;
  EXPECT_NE(command("b"), here);
}

TEST_F(ClaimsTest, AResultFileThatIsAnInputIsNotWritten) {
  Task task;
  task.argv = {"true"};
  task.workdir = dir_ / "a";
  task.inputs = {dir_ / "table"};
  task.collect = {dir_ / "table", dir_ / "own"};
  const auto& claims = claims_.of(task);
  ASSERT_EQ(claims.size(), 2U);
  EXPECT_EQ(*claims[1].file, (dir_ / "own").string());
}

TEST_F(ClaimsTest, TheRootHasNoFolderAbove) {
  RealFolders folders;
  EXPECT_EQ(folders.of("/"), "");
  EXPECT_EQ(folders.of("/.."), "");
  EXPECT_EQ(folders.of("/../nothing-of-this-name"), "/nothing-of-this-name");
}

TEST_F(ClaimsTest, LinksInACircleLeadNowhere) {
  std::filesystem::create_symlink("y", dir_ / "x");
  std::filesystem::create_symlink("./x/../x", dir_ / "y");
  std::filesystem::create_symlink("self/on", dir_ / "self");
  RealFolders folders;
  for (const char* name : {"x", "y", "self", "self/more"})
    EXPECT_TRUE(folders.of((dir_ / name).string()).starts_with(folders.of(dir_.path().string())));
  const std::string long_path = "/" + std::string(1 << 20, '/') + "a";
  EXPECT_EQ(folders.of(long_path), long_path) << "nobody can open it";
}

}  // namespace
}  // namespace gantry::driver
