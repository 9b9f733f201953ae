#include "actuate/launch/batch/pilot_need.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace gantry {
namespace {

using Stage = PilotUse::Stage;

/// Submits as long as it is worth it, and tells how often.
std::size_t submitted(std::uint64_t waiting, std::vector<PilotUse> pilots) {
  std::size_t count = 0;
  for (PilotUse& pilot : pilots) {
    if (pilot.stage != Stage::absent || !is_another_needed(waiting, pilots)) continue;
    pilot.stage = Stage::coming;
    ++count;
  }
  return count;
}

TEST(PilotNeed, NoMoreJobsThanThereIsWorkFor) {
  const std::vector<PilotUse> ten(10, {.stage = Stage::absent, .slots = 4});
  EXPECT_EQ(submitted(0, ten), 0U);
  EXPECT_EQ(submitted(3, ten), 1U);
  EXPECT_EQ(submitted(4, ten), 1U);
  EXPECT_EQ(submitted(9, ten), 3U);  // of 4 cores each
  EXPECT_EQ(submitted(1'000'000, ten), 10U);
}

TEST(PilotNeed, WhatIsThereCounts) {
  std::vector<PilotUse> pilots(4, {.stage = Stage::absent, .slots = 4});
  pilots[0].stage = Stage::coming;
  pilots[1] = {.stage = Stage::up, .slots = 4, .free = 1};
  EXPECT_EQ(offered_cores(pilots), 5U);
  EXPECT_EQ(submitted(5, pilots), 0U);
  EXPECT_EQ(submitted(6, pilots), 1U);
  EXPECT_EQ(submitted(10, pilots), 2U);
}

TEST(PilotNeed, OneThatGetsNothingAlthoughSomethingWaitsDoesNotCount) {
  std::vector<PilotUse> pilots(2, {.stage = Stage::absent, .slots = 4});
  pilots[0] = {.stage = Stage::up, .slots = 4, .free = 4};
  EXPECT_EQ(submitted(2, pilots), 0U);
  EXPECT_FALSE(is_superfluous(2, pilots, 0));
  pilots[0].shunned = true;
  EXPECT_EQ(submitted(2, pilots), 1U);
  EXPECT_TRUE(is_superfluous(2, pilots, 0));
}

TEST(PilotNeed, WhatNothingWaitsForMayGo) {
  std::vector<PilotUse> pilots{{.stage = Stage::up, .slots = 4, .free = 4},
                               {.stage = Stage::coming, .slots = 4},
                               {.stage = Stage::up, .slots = 4, .free = 3},
                               {.stage = Stage::absent, .slots = 4}};
  EXPECT_TRUE(is_superfluous(0, pilots, 0));
  EXPECT_TRUE(is_superfluous(0, pilots, 1));
  EXPECT_FALSE(is_superfluous(0, pilots, 2)) << "a task runs there";
  EXPECT_FALSE(is_superfluous(0, pilots, 3)) << "there is nothing to give back";
  // 4 + 4 + 3 cores are offered: without one of the first two there are 7.
  EXPECT_TRUE(is_superfluous(7, pilots, 0));
  EXPECT_FALSE(is_superfluous(8, pilots, 0));
}

}  // namespace
}  // namespace gantry
