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

TEST(LearnedMemory, FarFromWhatWasSeenItIsNotMuchMoreThanExpected) {
  LearnedMemory memory;
  for (int size = 1; size <= 20; ++size)
    memory.observe(with(size), static_cast<std::uint64_t>(size) * 100 * kMi);
  memory.refresh();
  EXPECT_GE(*memory.need(with(60)), 6000 * kMi);
  EXPECT_LE(*memory.need(with(60)), 9000 * kMi);
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

TEST(LearnedMemory, ThoseThatDieTeachOthersThatTheyMayNeedMore) {
  LearnedMemory memory;
  for (int i = 1; i <= 20; ++i) memory.observe(with(1), 100 * kMi);
  memory.refresh();
  const std::uint64_t before = *memory.need(with(1));
  EXPECT_FALSE(memory.is_due());
  for (int i = 0; i < 3 && !memory.is_due(); ++i) memory.died(with(1), before);
  ASSERT_TRUE(memory.is_due());
  memory.refresh();
  EXPECT_FALSE(memory.is_due());
  EXPECT_GE(*memory.need(with(1)), 2 * before);
  EXPECT_EQ(LearnedMemory::from_text(memory.to_text())->need(with(1)), memory.need(with(1)));
  memory.died(with(1), std::uint64_t{1} << 60U);  // no host has that
  EXPECT_FALSE(memory.is_due());
  // And not more than anybody took, however wrong guesses were.
  for (int i = 0; i < 10; ++i) memory.observe(with(1), 500 * kMi);
  for (int i = 0; i < 10; ++i) memory.died(with(1), before);
  memory.refresh();
  EXPECT_GE(*memory.need(with(1)), 500 * kMi);
  EXPECT_LE(*memory.need(with(1)), coarse_memory(625 * kMi));
}

TEST(LearnedMemory, WhatWasNotMeasuredTeachesNothing) {
  LearnedMemory memory;
  for (int i = 0; i < 20; ++i) memory.observe(with(1), 0);
  for (int i = 0; i < 20; ++i) memory.observe(with(1), std::uint64_t{1} << 63U);
  EXPECT_EQ(memory.seen(), 0U);
}

TEST(LearnedMemory, WhatIsReadIsAsGoodAsWhatWasWritten) {
  LearnedMemory memory;
  for (std::uint64_t i = 1; i <= 200; ++i)
    memory.observe(with(static_cast<double>(i % 20)),
                   (i % 20 + 1) * (mixed(i) % 8 == 0 ? 40 : 10) * kMi);
  memory.refresh();
  const auto read = LearnedMemory::from_text(memory.to_text());
  ASSERT_TRUE(read);
  EXPECT_EQ(read->seen(), 200U);
  EXPECT_EQ(read->seen_here(), 0U);
  EXPECT_DOUBLE_EQ(read->margin(), memory.margin());
  for (const int size : {1, 7, 19, 60}) EXPECT_EQ(read->need(with(size)), memory.need(with(size)));
  EXPECT_EQ(read->to_text(), memory.to_text());
  EXPECT_TRUE(read->knows(with(3)));
  EXPECT_FALSE(read->knows(Features{1.0}));
}

TEST(LearnedMemory, OfVeryManyNoMoreCountThanAreKept) {
  LearnedMemory memory;
  for (int i = 0; i < 5000; ++i) memory.observe(with(1), 1000 * kMi);
  auto read = LearnedMemory::from_text(memory.to_text()).value();
  EXPECT_EQ(read.seen(), RunTimeModel::kKept);
}

TEST(LearnedMemory, OfNothingIsReadAsThat) {
  const auto read = LearnedMemory::from_text(LearnedMemory{}.to_text());
  ASSERT_TRUE(read);
  EXPECT_EQ(read->need(with(1)), std::nullopt);
}

TEST(LearnedMemory, DamagedTextIsAnError) {
  LearnedMemory memory;
  for (int i = 0; i < 10; ++i) memory.observe(with(i), 100 * kMi);
  const std::string whole = memory.to_text();
  for (const std::string& text :
       {std::string(), std::string("[1e999"), std::string("[]"), std::string("{}"),
        std::string(R"({"version":1})"), std::string(R"({"version":"1","guesses":[],"model":""})"),
        std::string(R"({"version":1,"guesses":[],"model":""})"),
        std::string(R"({"version":1,"guesses":[],"model":{}})"),
        std::string(R"({"version":1,"guesses":[-1],"model":"{}"})"),
        std::string(R"({"version":1,"guesses":["x"],"model":"{}"})"),
        std::string(R"({"version":1,"guesses":[],"wanted":-1,"model":"{}"})"), whole.substr(1),
        whole.substr(0, whole.size() / 2)}) {
    const auto read = LearnedMemory::from_text(text);
    ASSERT_FALSE(read) << text;
    EXPECT_FALSE(read.error().message.empty());
  }
  const auto newer = LearnedMemory::from_text(R"({"version":2,"guesses":[],"model":""})");
  ASSERT_FALSE(newer);
  EXPECT_EQ(newer.error().code, ErrorCode::version);
}

TEST(LearnedMemory, AbsurdValuesThatWereKeptAreNoHarm) {
  RunTimeModel model;
  for (int i = 0; i < 10; ++i) model.observe(with(i), i % 2 == 0 ? 1e100 : 0);
  std::string text = LearnedMemory{}.to_text();
  // The text of the empty model is replaced by that one's, as JSON quotes it.
  std::string quoted;
  for (const char c : model.to_text()) quoted += c == '"' ? "\\\"" : std::string(1, c);
  const auto begin = text.find("\"model\":\"") + 9;
  text.replace(begin, text.find("}\"", begin) + 1 - begin, quoted);
  const auto read = LearnedMemory::from_text(text);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_GE(*read->need(with(3)), LearnedMemory::kLeast);
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
