#include "engine/run/ready_queue.hpp"

#include <gtest/gtest.h>

namespace gantry::engine {
namespace {

TaskNeeds costing(double cost) {
  return {.cost = cost};
}

TEST(ReadyQueue, RenewsTheFirstTasksOfEveryClass) {
  ReadyQueue queue([](const TaskNeeds&) { return true; });
  for (std::uint32_t task = 1; task <= 5; ++task) queue.push(TaskId(task), costing(1), false);
  queue.push(TaskId(6), costing(2), false);
  for (std::uint32_t task = 7; task <= 9; ++task) queue.push(TaskId(task), costing(3), false);
  // Six looks: two for each class. The second has one task only; what it leaves goes to the third.
  std::vector<TaskId> looked_at;
  EXPECT_TRUE(queue.sort_anew(
      [&](TaskId task) {
        looked_at.push_back(task);
        return costing(4);
      },
      6));
  EXPECT_EQ(looked_at,
            (std::vector{TaskId(1), TaskId(2), TaskId(6), TaskId(7), TaskId(8), TaskId(9)}));
  ASSERT_EQ(queue.view().size(), 2U);
  EXPECT_EQ(queue.view()[0].places->size(), 3U);
  EXPECT_EQ(queue.view()[1].needs->cost, 4);
  EXPECT_EQ(queue.view()[1].places->size(), 6U);
  EXPECT_EQ(queue.size(), 9U);
}

TEST(ReadyQueue, NothingIsRenewedThatNeedsTheSame) {
  ReadyQueue queue([](const TaskNeeds&) { return true; });
  queue.push(TaskId(1), costing(1), false);
  const auto same = [](TaskId) { return costing(1); };
  EXPECT_FALSE(queue.sort_anew(same, 10));
  EXPECT_FALSE(queue.sort_anew(same, 0));
  EXPECT_EQ(queue.front(), TaskId(1));
}

}  // namespace
}  // namespace gantry::engine
