#include "agent/task_queue.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <map>
#include <set>

namespace gantry::agent {
namespace {

PackedStart task(std::uint32_t number, std::uint32_t cores = 1, std::uint64_t memory = 0) {
  PackedStart start;
  start.key = {1, number, 1};
  start.cores = cores;
  start.memory = memory;
  return start;
}

/// Everything that may start now, by number.
std::vector<std::uint32_t> take_all(TaskQueue& queue) {
  std::vector<std::uint32_t> numbers;
  while (const auto start = queue.take()) numbers.push_back(start->key.task);
  return numbers;
}

TEST(TaskQueue, StartsInOrderAsFarAsTheCoresReach) {
  TaskQueue queue;
  queue.set_capacity(2, 0);
  for (std::uint32_t n = 1; n <= 4; ++n) queue.push(task(n));
  EXPECT_EQ(take_all(queue), (std::vector<std::uint32_t>{1, 2}));
  EXPECT_EQ(queue.running(), 2U);
  EXPECT_EQ(queue.waiting(), 2U);
  queue.release({1, 0});
  EXPECT_EQ(take_all(queue), (std::vector<std::uint32_t>{3}));
}

TEST(TaskQueue, ASuccessorTakesTheRoomOfTheOneBeforeIt) {
  TaskQueue queue;
  queue.set_capacity(2, 0);
  for (std::uint32_t n = 1; n <= 3; ++n) queue.push(task(n));
  queue.push(task(4, 2));
  EXPECT_EQ(take_all(queue), (std::vector<std::uint32_t>{1, 2}));
  const auto successor = queue.take_successor({1, 0});
  ASSERT_TRUE(successor);
  EXPECT_EQ(successor->key.task, 3U);
  EXPECT_EQ(queue.running(), 2U);
  EXPECT_FALSE(queue.take_successor({1, 0}));  // the first that waits now is a larger one
  queue.put_back(*successor);
  queue.release({1, 0});
  EXPECT_EQ(take_all(queue), (std::vector<std::uint32_t>{3}));
}

TEST(TaskQueue, PacksDeclaredMemory) {
  TaskQueue queue;
  queue.set_capacity(8, 100);
  queue.push(task(1, 1, 60));
  queue.push(task(2, 1, 60));  // waits
  queue.push(task(3, 1, 40));  // overtakes
  queue.push(task(4));         // declares none, takes none
  EXPECT_EQ(take_all(queue), (std::vector<std::uint32_t>{1, 3, 4}));
  queue.release({1, 60});
  EXPECT_EQ(take_all(queue), (std::vector<std::uint32_t>{2}));
}

TEST(TaskQueue, WhatIsLargerThanTheHostRunsAlone) {
  TaskQueue queue;
  queue.set_capacity(2, 100);
  queue.push(task(1, 64, ~std::uint64_t{0}));
  queue.push(task(2));
  EXPECT_EQ(take_all(queue), (std::vector<std::uint32_t>{1}));
  queue.release({64, ~std::uint64_t{0}});
  EXPECT_EQ(take_all(queue), (std::vector<std::uint32_t>{2}));
}

TEST(TaskQueue, AbsurdClaimsDoNotWrapAround) {
  TaskQueue queue;
  queue.set_capacity(4, 1000);
  queue.push(task(1, 1, 10));
  queue.push(task(2, ~std::uint32_t{0}));
  queue.push(task(3, 1, ~std::uint64_t{0}));
  EXPECT_EQ(take_all(queue), (std::vector<std::uint32_t>{1}));
}

TEST(TaskQueue, ATaskOfNoCoresTakesOne) {
  TaskQueue queue;
  queue.set_capacity(2, 0);
  for (std::uint32_t n = 1; n <= 5; ++n) queue.push(task(n, 0));
  EXPECT_EQ(take_all(queue).size(), 2U);
}

TEST(TaskQueue, ALargeTaskIsOvertakenABoundedNumberOfTimes) {
  TaskQueue queue;
  queue.set_capacity(2, 0);
  queue.push(task(1));
  queue.push(task(2, 2));
  for (std::uint32_t n = 3; n <= 2000; ++n) queue.push(task(n));
  // Task 2 needs both cores. Small ones end one at a time, so without a bound one of the cores
  // would always be taken.
  take_all(queue);
  unsigned started_before_it = 0;
  for (bool it_runs = false; !it_runs; ++started_before_it) {
    ASSERT_LT(started_before_it, TaskQueue::kMaxOvertaken + 10);
    queue.release({1, 0});
    for (const auto n : take_all(queue)) it_runs = it_runs || n == 2;
  }
  EXPECT_EQ(queue.running(), 1U);
}

TEST(TaskQueue, WhatWaitsCanBeRemoved) {
  TaskQueue queue;
  queue.set_capacity(1, 0);
  for (std::uint32_t n = 1; n <= 5; ++n) queue.push(task(n));
  EXPECT_EQ(take_all(queue), (std::vector<std::uint32_t>{1}));
  const auto is_last = [](const AttemptKey& key) { return key.task == 5 || key.task == 1; };
  EXPECT_EQ(queue.remove_if(is_last), (std::vector<AttemptKey>{{1, 5, 1}}));
  EXPECT_TRUE(queue.remove({1, 3, 1}));
  EXPECT_FALSE(queue.remove({1, 3, 1}));
  EXPECT_FALSE(queue.remove({1, 1, 1}));  // runs
  EXPECT_EQ(queue.remove_if([](const AttemptKey&) { return true; }),
            (std::vector<AttemptKey>{{1, 2, 1}, {1, 4, 1}}));
  EXPECT_EQ(queue.waiting(), 0U);
  EXPECT_EQ(queue.running(), 1U);
}

TEST(TaskQueue, NeverBeyondCapacityAndNobodyIsForgotten) {
  EXPECT_TRUE(rc::check([] {
    const auto cores = *rc::gen::inRange<std::uint32_t>(1, 9);
    const auto memory = *rc::gen::inRange<std::uint64_t>(1, 100);
    TaskQueue queue;
    queue.set_capacity(cores, memory);
    const auto total = *rc::gen::inRange<std::uint32_t>(1, 300);
    for (std::uint32_t n = 1; n <= total; ++n) {
      queue.push(task(n, *rc::gen::inRange<std::uint32_t>(1, 2 * cores),
                      *rc::gen::inRange<std::uint64_t>(0, 2 * memory)));
    }
    std::vector<Claim> running;
    std::set<std::uint32_t> started;
    while (started.size() < total) {
      while (const auto start = queue.take()) {
        RC_ASSERT(started.insert(start->key.task).second);
        running.push_back(claim_of(*start));
      }
      RC_ASSERT(!running.empty());  // progress, always
      std::uint64_t used_cores = 0;
      std::uint64_t used_memory = 0;
      for (const auto& claim : running) {
        used_cores += claim.cores;
        used_memory += claim.memory;
      }
      RC_ASSERT(running.size() == 1 || used_cores <= cores);
      RC_ASSERT(running.size() == 1 || used_memory <= memory || used_memory == running[0].memory);
      const auto ends = *rc::gen::inRange<std::size_t>(0, running.size());
      queue.release(running[ends]);
      running.erase(running.begin() + static_cast<std::ptrdiff_t>(ends));
    }
  }));
}

}  // namespace
}  // namespace gantry::agent
