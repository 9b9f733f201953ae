#include "forecast/memory_book.hpp"

#include <gtest/gtest.h>

namespace gantry::forecast {
namespace {

constexpr std::uint64_t kMega = std::uint64_t{1} << 20U;
constexpr std::uint64_t kShare = 500 * kMega;

/// Task n has the parameter n.
MemoryBook empty_book() {
  return {[](TaskId task) { return Features{static_cast<double>(task.value())}; }, {}};
}

TEST(MemoryBook, GivesAShareUntilEnoughWasLearnt) {
  MemoryBook book = empty_book();
  for (std::uint32_t n = 1; n <= LearnedMemory::kEnough; ++n) {
    EXPECT_FALSE(book.refresh());
    EXPECT_EQ(book.wanted(TaskId(n), kShare), kShare);
    EXPECT_EQ(book.given(TaskId(n), kShare).learnt_from, 0U);
    book.learn_use(TaskId(n), 200 * kMega);
  }
  EXPECT_TRUE(book.refresh());
  // 200 MiB and a quarter are 250 MiB; the next step is 256.
  EXPECT_EQ(book.wanted(TaskId(3), kShare), 256 * kMega);
  EXPECT_EQ(book.given(TaskId(3), 256 * kMega).learnt_from, LearnedMemory::kEnough);
  EXPECT_FALSE(book.refresh());
}

TEST(MemoryBook, ATaskThatDiedWantsMoreUntilItSucceeds) {
  MemoryBook book = empty_book();
  EXPECT_TRUE(book.died(TaskId(1), 1000 * kMega, 1010 * kMega));
  // Twice 1010 MiB; steps there are 1722 and 2048.
  EXPECT_EQ(book.wanted(TaskId(1), kShare), 2048 * kMega);
  EXPECT_EQ(book.wanted(TaskId(2), kShare), kShare);
  EXPECT_EQ(book.died_with(TaskId(1)), 1000 * kMega);
  EXPECT_EQ(book.given(TaskId(1), 2048 * kMega).died_with, 1000 * kMega);
  book.succeeded(TaskId(1));
  EXPECT_EQ(book.died_with(TaskId(1)), std::nullopt);
  EXPECT_EQ(book.wanted(TaskId(1), kShare), kShare);
}

TEST(MemoryBook, ADeathWithLessMemoryDoesNotLowerWhatTheTaskWants) {
  MemoryBook book = empty_book();
  EXPECT_TRUE(book.died(TaskId(1), 1000 * kMega, 0));
  EXPECT_FALSE(book.died(TaskId(1), 300 * kMega, 0));
  EXPECT_EQ(book.died_with(TaskId(1)), 1000 * kMega);
  EXPECT_EQ(book.wanted(TaskId(1), kShare), 2048 * kMega);
}

}  // namespace
}  // namespace gantry::forecast
