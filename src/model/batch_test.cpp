#include "model/batch.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace gantry {
namespace {

TEST(Batches, GiveTasksDenseNumbers) {
  Batches batches;
  EXPECT_EQ(batches.task_count(), 0U);
  EXPECT_FALSE(batches.find(TaskId(1)));
  ASSERT_TRUE(batches.add({NodeId(0), 0, TaskId(1), 3}));
  ASSERT_TRUE(batches.add({NodeId(0), 0, TaskId(4), 0}));  // as an empty iteration of a loop
  ASSERT_TRUE(batches.add({NodeId(2), 7, TaskId(4), 2}));
  EXPECT_EQ(batches.task_count(), 5U);
  EXPECT_EQ(batches.find(TaskId(3)), (TaskOrigin{NodeId(0), 0, 0, 2}));
  EXPECT_EQ(batches.find(TaskId(4)), (TaskOrigin{NodeId(2), 7, 2, 0}));
  EXPECT_EQ(batches.find(TaskId(5)), (TaskOrigin{NodeId(2), 7, 2, 1}));
  EXPECT_FALSE(batches.find(TaskId(0)));
  EXPECT_FALSE(batches.find(TaskId(6)));
}

TEST(Batches, RefuseGapsOverlapsAndTooMany) {
  Batches batches;
  EXPECT_FALSE(batches.add({NodeId(0), 0, TaskId(2), 1}));
  ASSERT_TRUE(batches.add({NodeId(0), 0, TaskId(1), 3}));
  EXPECT_FALSE(batches.add({NodeId(0), 0, TaskId(3), 1}));
  EXPECT_FALSE(batches.add({NodeId(0), 0, TaskId(5), 1}));
  // The last number is 2^32 - 2, so that the one after it exists.
  constexpr std::uint32_t kMost = std::numeric_limits<std::uint32_t>::max() - 1;
  EXPECT_FALSE(batches.add({NodeId(0), 0, TaskId(4), kMost - 2}));
  EXPECT_EQ(batches.task_count(), 3U);
  EXPECT_TRUE(batches.add({NodeId(0), 0, TaskId(4), kMost - 3}));
  EXPECT_EQ(batches.task_count(), kMost);
}

}  // namespace
}  // namespace gantry
