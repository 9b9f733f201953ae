#include "forecast/learned_outputs.hpp"

#include <gtest/gtest.h>

#include <set>

namespace gantry::forecast {
namespace {

constexpr std::uint64_t kMega = std::uint64_t{1} << 20U;

LearnedOutputs of_size(std::uint64_t each, int tasks = 20) {
  LearnedOutputs outputs;
  for (int size = 1; size <= tasks; ++size)
    outputs.observe(Features{static_cast<double>(size)}, static_cast<std::uint64_t>(size) * each);
  outputs.refresh();
  return outputs;
}

TEST(LearnedOutputs, GrowWithTheParameter) {
  const LearnedOutputs outputs = of_size(kMega);
  for (const double size : {2.0, 10.0, 20.0}) {
    // Steps of a doubling: up to 41 % more, or 29 % less.
    const double ratio = outputs.expected(Features{size}) / (size * static_cast<double>(kMega));
    EXPECT_GT(ratio, 0.69) << size;
    EXPECT_LT(ratio, 1.44) << size;
  }
  std::set<double> steps;
  for (int size = 1; size <= 20; ++size)
    steps.insert(outputs.expected(Features{static_cast<double>(size)}));
  EXPECT_LE(steps.size(), 6U);
}

TEST(LearnedOutputs, LittleIsNothing) {
  EXPECT_EQ(of_size(1000).expected(Features{20.0}), 0);
  EXPECT_EQ(of_size(1000).used().observations(), 20U);
}

TEST(LearnedOutputs, SayNothingBeforeEnoughWasSeen) {
  LearnedOutputs outputs = of_size(kMega, 7);
  EXPECT_FALSE(outputs.is_due());
  EXPECT_EQ(outputs.expected(Features{3.0}), 0);
  outputs.observe(Features{8.0}, 8 * kMega);
  EXPECT_TRUE(outputs.is_due());
  EXPECT_EQ(outputs.expected(Features{3.0}), 0) << "not before refresh()";
  outputs.refresh();
  EXPECT_GT(outputs.expected(Features{3.0}), 0);
  EXPECT_FALSE(outputs.is_due());
}

TEST(LearnedOutputs, BeginWithWhatWasKept) {
  const LearnedOutputs kept = of_size(kMega);
  const LearnedOutputs next(RunTimeModel::from_text(kept.model().to_text()).value());
  EXPECT_EQ(next.expected(Features{10.0}), kept.expected(Features{10.0}));
  EXPECT_EQ(next.seen_here(), 0U);
  EXPECT_EQ(next.expected(Features{1.0, 2.0}), 0) << "of other parameters";
}

}  // namespace
}  // namespace gantry::forecast
