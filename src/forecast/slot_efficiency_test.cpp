#include "forecast/slot_efficiency.hpp"

#include <gtest/gtest.h>

namespace gantry::forecast {
namespace {

using std::chrono::milliseconds;

/// `count` tasks one after the other on each of `slots`, with a gap after each.
SlotEfficiency after(int count, unsigned slots, Duration took, Duration gap) {
  SlotEfficiency efficiency;
  TimePoint now{};
  for (int i = 0; i < count; ++i) {
    now += took + gap;
    for (unsigned slot = 0; slot < slots; ++slot) efficiency.observe(now, took, slots);
  }
  return efficiency;
}

TEST(SlotEfficiency, IsFullUntilEnoughIsKnown) {
  EXPECT_EQ(after(10, 1, milliseconds(1), milliseconds(9)).value(), 1.0);
}

TEST(SlotEfficiency, CountsTheGapsBetweenTasks) {
  EXPECT_NEAR(after(1000, 1, milliseconds(1), milliseconds(1)).value(), 0.5, 0.01);
  EXPECT_NEAR(after(1000, 4, milliseconds(3), milliseconds(1)).value(), 0.75, 0.01);
  EXPECT_NEAR(after(1000, 2, milliseconds(1000), milliseconds(1)).value(), 1.0, 0.01);
}

TEST(SlotEfficiency, IsNotMisledByClocksAndPauses) {
  auto efficiency = after(1000, 1, milliseconds(1), milliseconds(1));
  efficiency.observe(TimePoint{} + std::chrono::hours(20), milliseconds(1), 1);  // the lid was shut
  EXPECT_NEAR(efficiency.value(), 0.5, 0.01);
  efficiency.observe(TimePoint{}, milliseconds(1), 1);  // the clock was set back
  EXPECT_NEAR(efficiency.value(), 0.5, 0.01);
}

}  // namespace
}  // namespace gantry::forecast
