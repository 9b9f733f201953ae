#include "forecast/learned_memory.hpp"

#include <gtest/gtest.h>

#include <set>

#include "base/chance.hpp"

namespace gantry::forecast {
namespace {

constexpr std::uint64_t kMi = std::uint64_t{1} << 20U;

Features with(double size) {
  return {size, std::string("a")};
}

TEST(LearnedMemory, SaysNothingBeforeEnoughWasSeen) {
  LearnedMemory memory;
  for (std::uint64_t i = 1; i < LearnedMemory::kEnough; ++i) {
    memory.observe(with(1), 200 * kMi);
    EXPECT_FALSE(memory.is_due());
  }
  memory.refresh();
  EXPECT_EQ(memory.need(with(1)), std::nullopt);
  memory.observe(with(1), 200 * kMi);
  EXPECT_TRUE(memory.is_due());
  EXPECT_EQ(memory.need(with(1)), std::nullopt) << "not before refresh()";
  memory.refresh();
  // 200 MiB and a quarter are 250 MiB; the steps there are 215.3, 256, 304.4.
  EXPECT_EQ(memory.need(with(1)), 256 * kMi);
  EXPECT_FALSE(memory.is_due());
}

TEST(LearnedMemory, GrowsWithTheParameterThatMatters) {
  LearnedMemory memory;
  for (int size = 1; size <= 20; ++size)
    memory.observe(with(size), static_cast<std::uint64_t>(size) * 100 * kMi);
  memory.refresh();
  for (const int size : {2, 10, 20}) {
    const std::uint64_t real = static_cast<std::uint64_t>(size) * 100 * kMi;
    const auto need = memory.need(with(size));
    ASSERT_TRUE(need);
    EXPECT_GE(*need, real + real / 5) << size;
    EXPECT_LE(*need, 2 * real) << size;
  }
}

TEST(LearnedMemory, NobodyGetsLessThanTheLeast) {
  LearnedMemory memory;
  for (int i = 0; i < 20; ++i) memory.observe(with(i), kMi);
  memory.refresh();
  EXPECT_EQ(memory.need(with(1)), LearnedMemory::kLeast);
}

TEST(LearnedMemory, TheMarginIsForWhatGuessesWereWrong) {
  LearnedMemory steady;
  LearnedMemory wild;
  for (std::uint64_t i = 1; i <= 200; ++i) {
    steady.observe(with(1), 100 * kMi);
    // One in eight takes four times as much, and no parameter tells which.
    wild.observe(with(1), mixed(i) % 8 == 0 ? 400 * kMi : 100 * kMi);
  }
  steady.refresh();
  wild.refresh();
  EXPECT_DOUBLE_EQ(steady.margin(), 1.25);
  EXPECT_GE(*wild.need(with(1)), 400 * kMi);
}

TEST(LearnedMemory, WhatWasNotMeasuredTeachesNothing) {
  LearnedMemory memory;
  for (int i = 0; i < 20; ++i) memory.observe(with(1), 0);
  for (int i = 0; i < 20; ++i) memory.observe(with(1), std::uint64_t{1} << 63U);
  EXPECT_EQ(memory.seen(), 0U);
}

TEST(CoarseMemory, FewStepsNoneBelow) {
  std::set<std::uint64_t> steps;
  for (std::uint64_t mib = 64; mib <= 1024; ++mib) {
    const std::uint64_t bytes = mib * kMi + 12345;
    EXPECT_GE(coarse_memory(bytes), bytes);
    EXPECT_LE(coarse_memory(bytes), bytes + bytes / 4);
    steps.insert(coarse_memory(bytes));
  }
  EXPECT_LE(steps.size(), 4U * 4 + 2);
  EXPECT_EQ(coarse_memory(256 * kMi), 256 * kMi);
  EXPECT_EQ(coarse_memory(0), kMi);
  EXPECT_GT(coarse_memory(~std::uint64_t{0}), std::uint64_t{1} << 59U);
}

TEST(MoreMemory, IsTwiceTheLarger) {
  EXPECT_EQ(more_memory(256 * kMi, 100 * kMi), 512 * kMi);
  EXPECT_EQ(more_memory(256 * kMi, 512 * kMi), 1024 * kMi);
  EXPECT_GT(more_memory(~std::uint64_t{0}, 0), std::uint64_t{1} << 59U);
}

}  // namespace
}  // namespace gantry::forecast
