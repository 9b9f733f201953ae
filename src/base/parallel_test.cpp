#include "base/parallel.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <set>

namespace gantry {
namespace {

TEST(InParallel, EveryPieceIsDoneOnce) {
  for (const std::uint32_t threads : {0U, 1U, 3U, 100U}) {
    std::mutex mutex;
    std::multiset<std::size_t> done;
    in_parallel(50, threads, [&](std::size_t i) {
      const std::lock_guard lock(mutex);
      done.insert(i);
      return true;
    });
    EXPECT_EQ(done.size(), 50U) << threads;
    EXPECT_EQ(std::set(done.begin(), done.end()).size(), 50U) << threads;
  }
}

TEST(InParallel, WhatHasNotBegunIsLeftOutAfterAFailure) {
  std::atomic<int> done = 0;
  in_parallel(1000, 1, [&](std::size_t i) {
    ++done;
    return i < 9;
  });
  EXPECT_EQ(done, 10);
}

TEST(InParallel, NothingToDoIsDoneAtOnce) {
  in_parallel(0, 0, [](std::size_t) -> bool { throw std::logic_error("called"); });
}

}  // namespace
}  // namespace gantry
