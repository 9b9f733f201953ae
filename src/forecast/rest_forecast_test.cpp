#include "forecast/rest_forecast.hpp"

#include <gtest/gtest.h>

namespace gantry::forecast {
namespace {

constexpr HostId kOnly{1};
constexpr SiteId kQueued{3};

TimePoint rest_clock(int s) {
  return TimePoint{} + std::chrono::hours(1) + std::chrono::seconds(s);
}

/// Tasks took ten seconds on the only host.
TimeBook ten_seconds_each(const GridForecast& grid = {}) {
  GridForecast seen = grid;
  seen.host_up(kOnly, 1);
  TimeBook book(1000, {}, {}, {}, seen);
  for (std::uint32_t task = 1; task <= 4; ++task)
    book.succeeded({TaskId(task), kOnly, rest_clock(0), rest_clock(10)}, 2);
  return book;
}

/// So many tasks that chance adds up to little, on two slots.
OpenRun many() {
  return {.hosts = {{.id = kOnly, .slots = 2}},
          .total = 1000,
          .ended = 700,
          .to_start = 300,
          .cost_to_start = 300};
}

double rest_of(const TimeBook& book, const OpenRun& run, int now = 0) {
  return gantry::seconds(rest_by_chance({book, run, rest_clock(now)}).expected);
}

TEST(RestForecast, IsNotKnownBeforeATaskHasEnded) {
  EXPECT_EQ(rest_of(TimeBook(1000, {}, {}, {}, GridForecast{}), many()), 0);
}

TEST(RestForecast, AllSlotsAreDoneAtTheSameTime) {
  const TimeBook book = ten_seconds_each();
  EXPECT_NEAR(rest_of(book, many()), 300 * 10 / 2.0, 1e-6);
  OpenRun shared = many();
  shared.share = 0.5;
  EXPECT_NEAR(rest_of(book, shared), 300 * 10 / 1.0, 1e-6);
}

TEST(RestForecast, WhatRunsCountsWithWhatIsLeftOfIt) {
  OpenRun run = many();
  run.attempts = {{.started = rest_clock(0)}, {}};
  // At 4 s the one that runs has 6 s to go; the one that waits, all ten.
  EXPECT_NEAR(rest_of(ten_seconds_each(), run, 4), (300 * 10 + 6 + 10) / 2.0, 1e-6);
}

TEST(RestForecast, APlanIsBelievedIfItCanBeRight) {
  const TimeBook book = ten_seconds_each();
  OpenRun run = many();  // 1500 s without a plan
  run.planned_end = rest_clock(2200);
  EXPECT_NEAR(rest_of(book, run), 2200, 1e-6);
  run.planned_blindly = true;
  EXPECT_NEAR(rest_of(book, run), 1500, 1e-6) << "more than 1.4 times as long";
  run.planned_blindly = false;
  run.planned_end = rest_clock(4000);
  EXPECT_NEAR(rest_of(book, run), 1500, 1e-6) << "more than 2.5 times as long";
}

TEST(RestForecast, ATaskThatWaitsForItsRetryHasYetToRunThen) {
  OpenRun run = many();
  run.last_retry = rest_clock(5000);
  EXPECT_NEAR(rest_of(ten_seconds_each(), run, 100), 5000 - 100 + 10, 1e-6);
}

TEST(RestForecast, WithoutAHostTheFirstJobInAQueueIsWaitedFor) {
  GridForecast grid;
  for (int i = 1; i <= 20; ++i) grid.waited(kQueued, 100, rest_clock(1000 * i));
  const TimeBook book = ten_seconds_each(grid);
  OpenRun run = many();
  run.hosts = {};
  run.coming = {{.id = HostId(2), .site = kQueued, .slots = 3, .since = rest_clock(0)}};
  EXPECT_NEAR(rest_of(book, run, 0), 100 + 300 * 10 / 3.0, 5);
}

TEST(RestForecast, FewTasksArePlayed) {
  GridForecast grid;
  grid.host_up(kOnly, 1);
  TimeBook book(100, {}, {}, {}, grid);
  // Half of the tasks take one second, the others nine.
  for (std::uint32_t task = 1; task <= 40; ++task)
    book.succeeded({TaskId(task), kOnly, rest_clock(0), rest_clock(task % 2 == 0 ? 9 : 1)}, 2);
  OpenRun run{.hosts = {{.id = kOnly, .slots = 2}},
              .total = 100,
              .ended = 96,
              .to_start = 4,
              .cost_to_start = 4};
  const Eta eta = rest_by_chance({book, run, rest_clock(0)});
  // Four tasks of five seconds on two slots take ten in the mean; the last one leaves a slot idle.
  EXPECT_GT(gantry::seconds(eta.expected), 8);
  EXPECT_LT(gantry::seconds(eta.expected), 16);
  EXPECT_LT(eta.soonest, eta.expected);
  EXPECT_GT(eta.latest, eta.expected);
}

TEST(RestForecast, IntervalsAddUpAndEndsAreNotBeforeTheQuickestPossible) {
  GridForecast grid;
  grid.host_up(kOnly, 1);
  TimeBook book(1000, {}, {}, {}, grid);
  for (std::uint32_t task = 1; task <= 30; ++task)
    book.succeeded({TaskId(task), kOnly, rest_clock(0), rest_clock(10)}, 2);
  const OpenRun run = many();
  const RestInput rest{book, run, rest_clock(0)};
  const auto secs = [](int s) { return std::chrono::seconds(s); };
  const Eta sure{secs(1500), secs(1500), secs(1500)};
  const Eta usual{secs(1500), secs(1200), secs(2100)};
  const Eta eta = widened_rest(rest, usual, sure);
  // All took ten seconds: none of the rest can be quicker than the quickest so far.
  EXPECT_EQ(eta, (Eta{secs(1500), secs(1500), secs(2100)}));
  const Eta unsure{secs(1500), secs(1500), secs(2300)};
  // 600 and 800 have nothing to do with each other: together 1000.
  EXPECT_NEAR(gantry::seconds(widened_rest(rest, usual, unsure).latest), 2500, 1e-6);
}

}  // namespace
}  // namespace gantry::forecast
