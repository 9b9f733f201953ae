#include "base/time.hpp"

#include <gtest/gtest.h>

#include "base/strong_id.hpp"

namespace gantry {
namespace {

using namespace std::chrono_literals;

TEST(Time, NanosecondsGoThereAndBack) {
  EXPECT_EQ(to_ns(from_ns(1'234'567'890'123'456'789)), 1'234'567'890'123'456'789);
  EXPECT_EQ(to_ns(kNever), 0);
  EXPECT_EQ(from_seconds(1.5), Duration(1500ms));
  EXPECT_DOUBLE_EQ(seconds(250ms), 0.25);
}

TEST(Time, TheRealClockGoesForward) {
  const RealClock clock;
  const TimePoint first = clock.now();
  EXPECT_LE(first, clock.now());
  EXPECT_GT(first, from_ns(1'600'000'000'000'000'000));  // not in the units of another clock
}

TEST(Time, TheMonotonicClockBeginsWithTheSystemsTime) {
  const TimePoint before = RealClock{}.now();
  const MonotonicClock clock;
  const TimePoint first = clock.now();
  EXPECT_LT(std::chrono::abs(first - before), Duration(1min));  // others may run meanwhile
  EXPECT_LE(first, clock.now());
}

TEST(Ids, CompareAndHashByValue) {
  using Id = StrongId<struct TestTag, std::uint32_t>;
  EXPECT_LT(Id(1), Id(2));
  EXPECT_EQ(Id(3), Id(3));
  EXPECT_EQ(std::hash<Id>{}(Id(3)), std::hash<Id>{}(Id(3)));
  static_assert(!std::is_convertible_v<std::uint32_t, Id>);
}

}  // namespace
}  // namespace gantry
