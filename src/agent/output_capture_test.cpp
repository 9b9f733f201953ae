#include "agent/output_capture.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "agent/file_limit.hpp"
#include "base/scratch_dir.hpp"

namespace gantry::agent {
namespace {

class OutputCaptureTest : public ::testing::Test {
 protected:
  OutputCaptureTest() : capture_(dir_.path(), "out") {}

  /// Prints in pieces that a pipe holds, and lets the capture read each.
  void print(std::string_view text) {
    while (!text.empty()) {
      const auto piece = text.substr(0, 32'768);
      ASSERT_TRUE(write_all(capture_.write_end(), piece));
      capture_.drain();
      text.remove_prefix(piece.size());
    }
  }
  Captured task(std::string_view text, const std::string& stem = "run-1/slot-0") {
    EXPECT_TRUE(capture_.begin(stem));
    print(text);
    return capture_.finish();
  }
  /// `size` bytes of which no two neighbours of 16 are alike.
  static std::string pattern(std::size_t size, int seed = 0) {
    std::string text;
    for (std::size_t i = 0; text.size() < size; ++i)
      text += std::to_string(static_cast<std::size_t>(seed) * 1'000'003 + i) + ",";
    text.resize(size);
    return text;
  }
  std::string in_pack(const Captured& c) {
    return read_file(dir_ / c.pack).value().substr(c.offset, c.size);
  }

  ScratchDir dir_;
  OutputCapture capture_;
};

TEST_F(OutputCaptureTest, SmallOutputStaysInMemory) {
  const auto nothing = task("");
  EXPECT_EQ(nothing.size, 0U);
  EXPECT_EQ(nothing.text, "");
  const auto little = task("hello\n");
  EXPECT_EQ(little.size, 6U);
  EXPECT_EQ(little.text, "hello\n");
  EXPECT_EQ(little.pack, "");
  EXPECT_TRUE(std::filesystem::is_empty(dir_.path()));
}

TEST_F(OutputCaptureTest, OneByteMoreThanTheLimitGoesToAPack) {
  const std::string full = pattern(OutputCapture::kInline);
  const auto exactly = task(full);
  EXPECT_EQ(exactly.text, full);
  EXPECT_EQ(exactly.pack, "");
  const auto more = task(full + "!");
  EXPECT_EQ(more.size, OutputCapture::kInline + 1);
  EXPECT_EQ(more.pack, "run-1/slot-0.out");
  EXPECT_EQ(in_pack(more), full + "!");
  EXPECT_EQ(more.text, (full + "!").substr(more.size - OutputCapture::kTail));
  EXPECT_FALSE(more.truncated);
}

TEST_F(OutputCaptureTest, TasksOfASlotShareAPack) {
  std::vector<Captured> captured;
  for (int i = 0; i < 4; ++i) {
    captured.push_back(task(pattern(100'000 + static_cast<std::size_t>(i), i)));
    task("small one between them");
  }
  for (int i = 0; i < 4; ++i) {
    const auto& c = captured[static_cast<std::size_t>(i)];
    EXPECT_EQ(c.pack, captured[0].pack);
    EXPECT_EQ(in_pack(c), pattern(100'000 + static_cast<std::size_t>(i), i));
  }
  const auto other_run = task(pattern(70'000), "run-2/slot-0");
  EXPECT_EQ(other_run.pack, "run-2/slot-0.out");
  EXPECT_EQ(other_run.offset, 0U);
}

TEST_F(OutputCaptureTest, GoesOnBehindWhatAnEarlierLifeWrote) {
  const auto first = task(pattern(80'000, 1));
  capture_ = OutputCapture(dir_.path(), "out");
  const auto second = task(pattern(90'000, 2));
  EXPECT_EQ(second.offset, first.size);
  EXPECT_EQ(in_pack(first), pattern(80'000, 1));
  EXPECT_EQ(in_pack(second), pattern(90'000, 2));
}

TEST_F(OutputCaptureTest, APackThatWasRemovedIsMadeAnew) {
  task(pattern(80'000));
  std::filesystem::remove_all(dir_ / "run-1");
  const auto next = task(pattern(80'000, 2));
  EXPECT_EQ(next.offset, 0U);
  EXPECT_EQ(in_pack(next), pattern(80'000, 2));
}

TEST_F(OutputCaptureTest, MegabytesKeepTheirTail) {
  const std::string text = pattern(5'000'000);
  const auto captured = task(text);
  EXPECT_EQ(in_pack(captured), text);
  EXPECT_EQ(captured.text, text.substr(text.size() - OutputCapture::kTail));
}

TEST_F(OutputCaptureTest, AFlagThatATaskSetsDoesNotReachTheNext) {
  ASSERT_TRUE(capture_.begin("run-1/slot-0"));
  ASSERT_EQ(::fcntl(capture_.write_end(), F_SETFL, O_NONBLOCK), 0);
  ASSERT_TRUE(capture_.begin("run-1/slot-0"));
  EXPECT_EQ(::fcntl(capture_.write_end(), F_GETFL) & O_NONBLOCK, 0);
}

TEST_F(OutputCaptureTest, ReadsWhatWasPrintedAtTheVeryEnd) {
  ASSERT_TRUE(capture_.begin("run-1/slot-0"));
  ASSERT_TRUE(write_all(capture_.write_end(), pattern(60'000)));
  EXPECT_EQ(capture_.finish().text, pattern(60'000));
}

TEST_F(OutputCaptureTest, AFullDiskCutsTheOutputAndGivesTheRoomBack) {
  const auto before = task(pattern(100'000, 1));
  Captured cut;
  {
    const FileLimit limit(300'000);
    cut = task(pattern(1'000'000, 2));
  }
  EXPECT_TRUE(cut.truncated);
  EXPECT_EQ(cut.size, 1'000'000U);
  EXPECT_EQ(cut.pack, "");
  EXPECT_EQ(cut.text, pattern(1'000'000, 2).substr(1'000'000 - OutputCapture::kTail));
  EXPECT_EQ(std::filesystem::file_size(dir_ / before.pack), 100'000U);
  const auto after = task(pattern(100'000, 3));
  EXPECT_FALSE(after.truncated);
  EXPECT_EQ(in_pack(before), pattern(100'000, 1));
  EXPECT_EQ(in_pack(after), pattern(100'000, 3));
}

TEST_F(OutputCaptureTest, WithoutAPlaceForPacksTheTailIsKept) {
  ASSERT_TRUE(write_file_atomic(dir_ / "run-1", "in the way"));
  const auto cut = task(pattern(200'000));
  EXPECT_TRUE(cut.truncated);
  EXPECT_EQ(cut.pack, "");
  EXPECT_EQ(cut.text.size(), OutputCapture::kTail);
  EXPECT_FALSE(task("small").truncated);
}

}  // namespace
}  // namespace gantry::agent
