#include "forecast/time_book.hpp"

#include <gtest/gtest.h>

namespace gantry::forecast {
namespace {

constexpr HostId kFirst{1};
constexpr HostId kSecond{2};

TimePoint tick(int s) {
  return TimePoint{} + std::chrono::hours(1) + std::chrono::seconds(s);
}

double at_number(TaskId task) {
  return static_cast<double>(task.value());
}

/// Of a hundred tasks, on two hosts: the second is declared to be twice as fast.
TimeBook book_of(TimeBook::CostOf cost = {}, LearnedCosts::FeaturesOf features = {},
                 RunTimeModel known = {}) {
  GridForecast grid;
  grid.host_up(kFirst, 1);
  grid.host_up(kSecond, 2);
  return {100, std::move(cost), std::move(features), std::move(known), grid};
}

TimeBook::Attempt attempt(std::uint32_t task, HostId host, int took, int started = 0) {
  return {TaskId(task), host, tick(started), tick(started + took)};
}

TEST(TimeBook, KnowsNothingBeforeATaskHasEnded) {
  const TimeBook book = book_of();
  EXPECT_EQ(book.expected(TaskId(1), kFirst), std::nullopt);
  EXPECT_EQ(book.pace(kFirst, 1), std::nullopt);
  EXPECT_EQ(book.quickest(), std::nullopt);
  EXPECT_DOUBLE_EQ(book.cost_of(TaskId(7)), 1);
}

TEST(TimeBook, ATaskTakesItsCostTimesThePaceOfTheHost) {
  TimeBook book = book_of(at_number);
  book.succeeded(attempt(2, kFirst, 20), 1);  // 10 s for a cost of 1
  EXPECT_NEAR(gantry::seconds(book.expected(TaskId(3), kFirst).value()), 30, 1e-6);
  EXPECT_NEAR(gantry::seconds(book.expected(TaskId(3), kSecond).value()), 30, 1e-6)
      << "as on any host";
  book.succeeded(attempt(4, kSecond, 8), 1);  // 2 s for a cost of 1
  EXPECT_NEAR(gantry::seconds(book.expected(TaskId(3), kSecond).value()), 6, 1e-6);
  EXPECT_DOUBLE_EQ(book.mean_cost_from(99), 100);
}

TEST(TimeBook, WhatDeadAttemptsTookIsPartOfTheTasksTime) {
  TimeBook book = book_of();
  book.failed(attempt(1, kFirst, 3), 1, true);
  EXPECT_TRUE(book.samples().empty());
  book.succeeded(attempt(1, kFirst, 1), 1);
  EXPECT_DOUBLE_EQ(book.samples().at(kFirst).times.mean(), 4);
  // 3 s on the first host are 1.5 s on the second.
  book.failed(attempt(2, kFirst, 3), 1, true);
  book.succeeded(attempt(2, kSecond, 1), 1);
  EXPECT_DOUBLE_EQ(book.samples().at(kSecond).times.mean(), 2.5);
}

TEST(TimeBook, WhatWasWastedIsForgottenWhenATaskStartsOver) {
  TimeBook book = book_of();
  book.failed(attempt(1, kFirst, 3), 1, true);
  book.start_over(TaskId(1));
  book.failed(attempt(2, kFirst, 3), 1, false);
  book.succeeded(attempt(1, kFirst, 1), 1);
  book.succeeded(attempt(2, kFirst, 1), 1);
  EXPECT_DOUBLE_EQ(book.samples().at(kFirst).times.mean(), 1);
}

TEST(TimeBook, KeepsTheSamplesOfTheLastHostThatWent) {
  GridForecast grid;
  grid.host_up(kFirst, 1);
  grid.host_up(kSecond, 2);
  TimeBook book(100, {}, {}, {}, grid);
  book.succeeded(attempt(1, kFirst, 1), 1);
  book.succeeded(attempt(2, kSecond, 1), 1);
  grid.host_down(kSecond);
  book.forget_gone_hosts();
  EXPECT_EQ(book.samples().size(), 1U);
  EXPECT_TRUE(book.samples().contains(kFirst));
  grid.host_down(kFirst);
  book.forget_gone_hosts();
  EXPECT_TRUE(book.samples().contains(kFirst)) << "there is nothing else";
  book.succeeded(attempt(3, kSecond, 1), 1);
  EXPECT_FALSE(book.samples().contains(kSecond)) << "it is gone";
}

TEST(TimeBook, WhatWasReplayedCountsAtTheEndOfTheReplay) {
  TimeBook book = book_of(at_number);
  book.replayed(TaskId(2), std::chrono::seconds(20));
  EXPECT_EQ(book.run_times().observations(), 0U);
  book.end_replay();
  EXPECT_NEAR(gantry::seconds(book.expected(TaskId(3), kFirst).value()), 30, 1e-6);
}

TEST(TimeBook, TimesOfAnEarlierRunAreOfAHostOfSpeedOneAndGiveWay) {
  RunTimeModel known;
  for (int i = 0; i < 10; ++i) known.observe(Features{1.0}, 10);
  TimeBook book = book_of(
      {}, [](TaskId) { return Features{1.0}; }, known);
  ASSERT_TRUE(book.learned().known());
  EXPECT_TRUE(book.is_of_another_run());
  EXPECT_NEAR(*book.pace(kFirst, 1), 10, 1e-6);
  EXPECT_NEAR(*book.pace(kSecond, 2), 5, 1e-6);
  book.succeeded(attempt(1, kFirst, 40), 1);
  EXPECT_FALSE(book.is_of_another_run());
  EXPECT_NEAR(gantry::seconds(book.run_times().mean().value()), 40, 1e-6);
  EXPECT_NEAR(*book.pace(kSecond, 2), 40, 1e-6);
}

TEST(TimeBook, WhenCostsAreLearntAllThatRanIsCountedAgain) {
  TimeBook book = book_of({}, [](TaskId task) { return Features{at_number(task)}; });
  bool changed = false;
  int now = 0;
  for (std::uint32_t task = 1; task <= 20; ++task) {
    const int took = static_cast<int>(task);
    changed |= book.succeeded(attempt(task, kFirst, took, now), 1);
    now += took;
  }
  ASSERT_TRUE(changed);
  // Task n takes n seconds.
  for (const std::uint32_t task : {5U, 50U, 90U})
    EXPECT_NEAR(gantry::seconds(*book.expected(TaskId(task), kFirst)), task, 0.1 * task);
}

TEST(TimeBook, TheQuickestIsKnownAfterTwentyTasks) {
  TimeBook book = book_of();
  for (std::uint32_t task = 1; task < 20; ++task) book.succeeded(attempt(task, kFirst, 5), 1);
  EXPECT_EQ(book.quickest(), std::nullopt);
  book.succeeded(attempt(20, kFirst, 3), 1);
  EXPECT_EQ(book.quickest(), 3);
}

TEST(TimeBook, AnAttemptThatIsLateTakesAsLongAgainAsItIsOver) {
  const TimeBook book = book_of();
  EXPECT_DOUBLE_EQ(book.left_of(kFirst, 10, kNever, {}, tick(4)), 10);
  EXPECT_DOUBLE_EQ(book.left_of(kFirst, 10, tick(0), {}, tick(4)), 6);
  EXPECT_DOUBLE_EQ(book.left_of(kFirst, 10, tick(0), {}, tick(13)), 3);
}

}  // namespace
}  // namespace gantry::forecast
