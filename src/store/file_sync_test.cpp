#include "store/file_sync.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/fd.hpp"
#include "base/scratch_dir.hpp"

namespace gantry::store {
namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;

class FileSyncTest : public ::testing::Test {
 protected:
  FileSync::Disk disk() {
    return {.one = [this](const fs::path& path) { return note(ones_, path); },
            .whole = [this](const fs::path& path) { return note(wholes_, path); }};
  }
  Result<> note(std::vector<fs::path>& list, const fs::path& path) const {
    if (broken_) return fail(ErrorCode::io, "no");
    list.push_back(path);
    return {};
  }
  fs::path make(const std::string& name) {
    fs::create_directories((dir_ / name).parent_path());
    EXPECT_TRUE(write_file_atomic(dir_ / name, "x"));
    return dir_ / name;
  }

  ScratchDir dir_;
  std::vector<fs::path> ones_;
  std::vector<fs::path> wholes_;
  bool broken_ = false;
};

TEST_F(FileSyncTest, AFewFilesAreSyncedWithTheFoldersInWhichTheyAreNamed) {
  FileSync files(disk());
  files.add(make("new/a"));
  files.add(make("new/b"));
  ASSERT_TRUE(files.sync());
  EXPECT_TRUE(files.empty());
  for (const char* each : {"new/a", "new/b", "new"}) EXPECT_THAT(ones_, Contains(dir_ / each));
  EXPECT_THAT(ones_, Contains(dir_.path())) << "where the folder is named";
  EXPECT_EQ(std::count(ones_.begin(), ones_.end(), dir_ / "new"), 1);
  ones_.clear();
  ASSERT_TRUE(files.sync());
  EXPECT_THAT(ones_, IsEmpty());
  files.add(make("new/c"));
  ASSERT_TRUE(files.sync());
  EXPECT_THAT(ones_, ElementsAre(dir_ / "new/c", dir_ / "new"));
}

TEST_F(FileSyncTest, ManyAreSyncedAtOnce) {
  FileSync files(disk());
  for (int i = 0; i < 100; ++i) files.add(make(std::to_string(i % 7) + "/" + std::to_string(i)));
  ASSERT_TRUE(files.sync());
  EXPECT_THAT(ones_, IsEmpty());
  EXPECT_EQ(wholes_.size(), 1U) << "all are on one file system";
}

TEST_F(FileSyncTest, WhatFailsIsTriedAgainAndWhatIsGoneIsNot) {
  FileSync files(disk());
  files.add(make("a"));
  broken_ = true;
  EXPECT_FALSE(files.sync());
  broken_ = false;
  EXPECT_TRUE(files.sync());
  EXPECT_THAT(ones_, Contains(dir_ / "a"));

  FileSync real;
  real.add(make("b"));
  real.add(dir_ / "nowhere");
  fs::create_symlink("nowhere", dir_ / "link");
  real.add(dir_ / "link");
  EXPECT_TRUE(real.sync());
  for (int i = 0; i < 20; ++i) real.add(make(std::to_string(i)));
  EXPECT_TRUE(real.sync());
}

}  // namespace
}  // namespace gantry::store
