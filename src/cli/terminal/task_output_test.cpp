#include "cli/terminal/task_output.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/fd.hpp"

namespace gantry::cli {
namespace {

class TaskOutput : public testing::Test {
 protected:
  TaskOutput() {
    std::string name = testing::TempDir() + "gantry-output-XXXXXX";
    EXPECT_NE(mkdtemp(name.data()), nullptr);
    dir_ = name;
  }
  ~TaskOutput() override { std::filesystem::remove_all(dir_); }

  std::string print(const CapturedOutput& captured, bool sanitise = false) {
    const UniqueFd fd(memfd_create("printed", MFD_CLOEXEC));
    Output to(fd.get());
    result_ = print_captured(to, sanitise, captured, dir_);
    to.flush();
    std::string text(1 << 20, '\0');
    text.resize(static_cast<std::size_t>(pread(fd.get(), text.data(), text.size(), 0)));
    return text;
  }

  std::filesystem::path dir_;
  Result<> result_;
};

TEST_F(TaskOutput, SmallOutputComesFromTheStore) {
  EXPECT_EQ(print({.size = 3, .text = "a\x1b\n", .pack = "", .offset = 0}), "a\x1b\n");
  EXPECT_EQ(print({.size = 3, .text = "a\x1b\n", .pack = "", .offset = 0}, true), "a\\x1b\n");
}

TEST_F(TaskOutput, LargeOutputComesFromItsPlaceInThePack) {
  const std::string big(700000, 'x');
  ASSERT_TRUE(write_file_atomic(dir_ / "pack", "before" + big + "after"));
  EXPECT_EQ(print({.size = big.size(), .text = "tail", .pack = "pack", .offset = 6}), big);
  EXPECT_TRUE(result_);
}

TEST_F(TaskOutput, AMissingPackLeavesTheTail) {
  EXPECT_EQ(print({.size = 100, .text = "tail", .pack = "gone", .offset = 0}), "tail");
  EXPECT_FALSE(result_);
}

TEST_F(TaskOutput, AShortPackIsAnErrorUnlessKnown) {
  ASSERT_TRUE(write_file_atomic(dir_ / "pack", "abc"));
  EXPECT_EQ(print({.size = 100, .text = "", .pack = "pack", .offset = 0}), "abc");
  EXPECT_FALSE(result_);
  EXPECT_EQ(print({.size = 100, .text = "", .pack = "pack", .offset = 0, .truncated = true}),
            "abc");
  EXPECT_TRUE(result_);
}

TEST_F(TaskOutput, PacksOutsideOfTheFolderAreRefused) {
  for (const char* name : {"/etc/passwd", "../secret", "a/../../secret"}) {
    EXPECT_EQ(print({.size = 10, .text = "tail", .pack = name, .offset = 0}), "tail");
    EXPECT_FALSE(result_) << name;
  }
}

}  // namespace
}  // namespace gantry::cli
