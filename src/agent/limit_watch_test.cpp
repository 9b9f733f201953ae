#include "agent/limit_watch.hpp"

#include <gtest/gtest.h>

namespace gantry::agent {
namespace {

using namespace std::chrono_literals;
using Do = LimitWatch::Do;

const SteadyTime kStart{1000s};

TEST(LimitWatch, WithoutLimitsThereIsNothingToLookAt) {
  LimitWatch watch({0s, 0, 5s}, kStart);
  EXPECT_FALSE(watch.until_next_check(kStart));
  EXPECT_EQ(watch.on_time(kStart + 1000h), Do::nothing);
  EXPECT_FALSE(watch.memory_is_due(kStart + 1000h));
  EXPECT_EQ(watch.reason(), Cause::none);
}

TEST(LimitWatch, ATimeoutAsksFirstAndKillsAfterTheGrace) {
  LimitWatch watch({10s, 0, 5s}, kStart);
  EXPECT_EQ(watch.until_next_check(kStart + 4s), 6s);
  EXPECT_EQ(watch.on_time(kStart + 9s), Do::nothing);
  EXPECT_EQ(watch.on_time(kStart + 10s), Do::terminate);
  EXPECT_EQ(watch.reason(), Cause::timeout);
  EXPECT_TRUE(watch.in_grace());
  EXPECT_EQ(watch.until_next_check(kStart + 10s), 5s);
  EXPECT_EQ(watch.on_time(kStart + 14s), Do::nothing);
  EXPECT_EQ(watch.on_time(kStart + 15s), Do::kill);
  EXPECT_FALSE(watch.in_grace());
  // And again, for what was forked meanwhile.
  EXPECT_EQ(watch.on_time(kStart + 15s), Do::nothing);
  EXPECT_EQ(watch.on_time(kStart + 15s + LimitWatch::kKillInterval), Do::kill);
}

TEST(LimitWatch, TheFirstReasonStays) {
  LimitWatch watch({10s, 0, 5s}, kStart);
  EXPECT_EQ(watch.on_cancel(kStart + 9s), Do::terminate);
  EXPECT_EQ(watch.on_cancel(kStart + 10s), Do::nothing);
  EXPECT_EQ(watch.on_time(kStart + 11s), Do::nothing);  // past its timeout, in its grace
  EXPECT_EQ(watch.on_time(kStart + 14s), Do::kill);
  EXPECT_EQ(watch.reason(), Cause::cancelled);
}

TEST(LimitWatch, TooMuchMemoryKillsAtOnce) {
  LimitWatch watch({0s, 100, 5s}, kStart);
  EXPECT_EQ(watch.until_next_check(kStart), LimitWatch::kMemoryInterval);
  EXPECT_FALSE(watch.memory_is_due(kStart));
  const auto due = kStart + LimitWatch::kMemoryInterval;
  EXPECT_TRUE(watch.memory_is_due(due));
  EXPECT_EQ(watch.on_memory(100, due), Do::nothing);
  EXPECT_FALSE(watch.memory_is_due(due));
  EXPECT_EQ(watch.on_memory(101, due + 1s), Do::kill);
  EXPECT_EQ(watch.reason(), Cause::out_of_memory);
  EXPECT_FALSE(watch.in_grace());
  EXPECT_EQ(watch.on_time(due + 2s), Do::kill);
}

TEST(LimitWatch, MemoryCountsDuringTheGraceToo) {
  LimitWatch watch({1s, 100, 60s}, kStart);
  EXPECT_EQ(watch.on_time(kStart + 1s), Do::terminate);
  EXPECT_EQ(watch.on_memory(101, kStart + 2s), Do::kill);
  EXPECT_EQ(watch.reason(), Cause::timeout);
}

TEST(LimitWatch, AbsurdTimesDoNotOverflow) {
  LimitWatch watch({Duration::max(), 0, Duration::max()}, kStart);
  EXPECT_EQ(watch.on_time(kStart + 1000h), Do::nothing);
  EXPECT_EQ(watch.on_cancel(kStart + 1000h), Do::terminate);
  EXPECT_EQ(watch.on_time(kStart + 2000h), Do::nothing);
  LimitWatch negative({-5s, 0, -5s}, kStart);
  EXPECT_EQ(negative.on_time(kStart), Do::nothing);
  EXPECT_EQ(negative.on_cancel(kStart), Do::terminate);
  EXPECT_EQ(negative.on_time(kStart), Do::kill);
}

}  // namespace
}  // namespace gantry::agent
