#include "depot/kept_files.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.hpp"
#include "base/scratch_dir.hpp"

namespace gantry::depot {
namespace {

namespace fs = std::filesystem;

class KeptFilesTest : public testing::Test {
 protected:
  void SetUp() override { fs::create_directories(sandbox_ / "out"); }
  void write(const std::string& name, const std::string& text) const {
    ASSERT_TRUE(write_file_atomic(sandbox_ / name, text));
  }
  [[nodiscard]] std::string read(const std::string& name) const {
    return read_file(kept_ / name).value_or("-");
  }

  ScratchDir dir_;
  fs::path sandbox_ = dir_.path() / "run" / "1.2.3";
  fs::path kept_ = dir_.path() / "kept" / "1.2.3";
};

TEST_F(KeptFilesTest, FilesMoveToTheSamePlacesAndAreHashed) {
  write("out/a.bin", "aaa");
  write("b.bin", std::string(300'000, 'b'));
  const auto kept = keep_files(sandbox_, {"out/a.bin", "b.bin"}, kept_);
  ASSERT_TRUE(kept) << kept.error().message;
  EXPECT_EQ((*kept)[0], (StoredFile{hash_bytes("aaa"), 3}));
  EXPECT_EQ((*kept)[1], (StoredFile{hash_bytes(std::string(300'000, 'b')), 300'000}));
  EXPECT_EQ(read("out/a.bin"), "aaa");
  EXPECT_FALSE(fs::exists(sandbox_ / "out/a.bin"));
  EXPECT_FALSE(fs::exists(kept_.parent_path() / ".1.2.3"));
}

TEST_F(KeptFilesTest, WhatWasThereIsReplaced) {
  fs::create_directories(kept_);
  fs::create_directories(kept_.parent_path() / ".1.2.3");
  ASSERT_TRUE(write_file_atomic(kept_ / "old", "old"));
  write("new", "new");
  ASSERT_TRUE(keep_files(sandbox_, {"new"}, kept_));
  EXPECT_EQ(read("new"), "new");
  EXPECT_FALSE(fs::exists(kept_ / "old"));
}

TEST_F(KeptFilesTest, LinksAndFilesWithOtherNamesAreCopied) {
  write("real", "text");
  fs::create_symlink("real", sandbox_ / "link");
  fs::create_hard_link(sandbox_ / "real", sandbox_ / "other");
  write("single", "text");
  fs::create_symlink("single", sandbox_ / "late");
  ASSERT_TRUE(keep_files(sandbox_, {"link", "other", "single", "late"}, kept_));
  for (const char* name : {"link", "other", "single", "late"}) {
    struct stat info {};
    ASSERT_EQ(::lstat((kept_ / name).c_str(), &info), 0);
    EXPECT_TRUE(S_ISREG(info.st_mode));
    EXPECT_EQ(info.st_nlink, 1U);
    EXPECT_EQ(read(name), "text");
  }
}

TEST_F(KeptFilesTest, AllOrNone) {
  write("out/a.bin", "aaa");
  ASSERT_TRUE(write_file_atomic(dir_.path() / "secret", "secret"));
  fs::create_symlink(dir_.path() / "secret", sandbox_ / "leads-out");
  ASSERT_EQ(::mkfifo((sandbox_ / "pipe").c_str(), 0600), 0);
  for (const char* bad :
       {"missing", "out", "pipe", "leads-out", "../1.2.3/out/a.bin", "/etc/passwd", ""}) {
    EXPECT_FALSE(keep_files(sandbox_, {"out/a.bin", bad}, kept_)) << bad;
    EXPECT_FALSE(fs::exists(kept_)) << bad;
    EXPECT_FALSE(fs::exists(kept_.parent_path() / ".1.2.3")) << bad;
    write("out/a.bin", "aaa");
  }
}

}  // namespace
}  // namespace gantry::depot
