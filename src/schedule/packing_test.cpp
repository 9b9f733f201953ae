#include "schedule/packing.hpp"

#include <gtest/gtest.h>

namespace gantry::schedule {
namespace {

using namespace std::chrono_literals;

TimePoint at(Duration since) {
  return TimePoint{} + 1h + since;
}

Host lent(Duration lent_for, Duration until) {
  Host host{.id = HostId(1), .name = "h", .cores = 4};
  host.lent_for = lent_for;
  host.until = at(until);
  return host;
}

TEST(Packing, AHostThatIsOursForGoodHasTimeForEverything) {
  const Host host{.id = HostId(1), .name = "h", .cores = 4};
  EXPECT_TRUE(is_lent_long_enough(host, {.walltime = 1000h}));
  EXPECT_TRUE(is_in_time(host, {.walltime = 1000h}, 1000h, at(0s)));
}

TEST(Packing, AHostMayRefuseTasksThatNeedTooMuch) {
  Host host{.id = HostId(1), .name = "h", .cores = 100, .memory = 1 << 20};
  host.refusals = {{8, 0, "no such node"}, {4, 1000, "no such node"}};
  EXPECT_EQ(slots(host, {.cores = 7}), 14U);
  EXPECT_EQ(slots(host, {.cores = 8}), 0U);
  EXPECT_GT(slots(host, {.cores = 4, .memory = 999}), 0U);
  EXPECT_EQ(slots(host, {.cores = 5, .memory = 1000}), 0U);
  host.refusals = {{1, 0, "no such queue"}};
  EXPECT_EQ(slots(host, {}), 0U);
}

TEST(Packing, WhatATaskDeclaresMustFitIntoWhatIsLeft) {
  const Host host = lent(60min, 60min);
  EXPECT_TRUE(is_lent_long_enough(host, {.walltime = 60min}));
  EXPECT_FALSE(is_lent_long_enough(host, {.walltime = 61min}));
  EXPECT_TRUE(is_in_time(host, {.walltime = 20min}, std::nullopt, at(40min)));
  EXPECT_FALSE(is_in_time(host, {.walltime = 20min}, std::nullopt, at(40min) + 1s));
  // What others took says less than what it declares.
  EXPECT_TRUE(is_in_time(host, {.walltime = 20min}, 50min, at(30min)));
}

TEST(Packing, ATaskThatDeclaresNothingIsExpectedToTakeAsLongAsOthers) {
  const Host host = lent(60min, 60min);
  EXPECT_TRUE(is_in_time(host, {}, std::nullopt, at(59min)));
  EXPECT_TRUE(is_in_time(host, {}, 10min, at(50min)));
  EXPECT_FALSE(is_in_time(host, {}, 10min, at(51min)));
}

TEST(Packing, AForecastThatNoHostCouldSatisfyKeepsNothingFromStarting) {
  const Host host = lent(60min, 60min);
  EXPECT_FALSE(is_in_time(host, {}, 54min, at(7min)));  // another host, lent anew, has the time
  EXPECT_TRUE(is_in_time(host, {}, 55min, at(7min)));
}

}  // namespace
}  // namespace gantry::schedule
