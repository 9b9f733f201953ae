#include "forecast/bookkeeper.hpp"

#include <gtest/gtest.h>

namespace gantry::forecast {
namespace {

constexpr HostId kWorker{1};
constexpr SiteId kSite{2};
constexpr std::uint64_t kMibs = std::uint64_t{1} << 20U;

TimePoint clock_at(int s) {
  return TimePoint{} + std::chrono::hours(1) + std::chrono::seconds(s);
}

/// Task n has the parameter n.
KnownTasks numbered(std::uint32_t count = 100) {
  return {.count = count,
          .features = [](TaskId task) { return Features{static_cast<double>(task.value())}; },
          .learns_memory = true,
          .learns_outputs = true};
}

Bookkeeper keeper(KnownTasks known = numbered(), Duration learn_for = {}) {
  GridForecast grid;
  grid.host_up(kWorker, 1);
  return {std::move(known), grid, learn_for};
}

AttemptReport report(std::uint32_t task, int took, FailureCause cause = FailureCause::none,
                     std::uint64_t used = 0) {
  AttemptReport report;
  report.key = {RunId(1), TaskId(task), AttemptId(1)};
  report.cause = cause;
  report.started = clock_at(0);
  report.ended = clock_at(took);
  report.usage.max_rss = used;
  return report;
}

Bookkeeper::Ended ended(const AttemptReport& report) {
  return {.report = report, .host = kWorker, .learns_memory = true, .slots = 1};
}

TEST(Bookkeeper, LearnsFromSuccessesWhatTasksTakeAndUse) {
  Bookkeeper book = keeper();
  EXPECT_FALSE(book.knows_times());
  for (std::uint32_t task = 1; task <= 10; ++task)
    book.observe(ended(report(task, 8, FailureCause::none, 200 * kMibs)));
  EXPECT_TRUE(book.knows_times());
  EXPECT_NEAR(gantry::seconds(book.times().expected(TaskId(50), kWorker).value()), 8, 1e-6);
  EXPECT_TRUE(book.refresh().memory);
  EXPECT_EQ(book.memory().wanted(TaskId(50), 0), 256 * kMibs);
}

TEST(Bookkeeper, WhatWasLostOrCancelledOrNeverRanSaysNothing) {
  Bookkeeper book = keeper();
  book.observe(ended(report(1, 8, FailureCause::lost)));
  book.observe(ended(report(2, 8, FailureCause::cancelled)));
  AttemptReport never = report(3, 8, FailureCause::exit_code);
  never.started = kNever;
  book.observe(ended(never));
  EXPECT_FALSE(book.knows_times());
  book.observe(ended(report(4, 8, FailureCause::exit_code)));
  EXPECT_TRUE(book.knows_times());
}

TEST(Bookkeeper, ForecastsStayAsTheyAreAfterSoLong) {
  Bookkeeper book = keeper(numbered(), std::chrono::seconds(10));
  book.pass(clock_at(0), 0);
  book.observe(ended(report(1, 8)));
  book.pass(clock_at(10), 1);
  EXPECT_FALSE(book.learns());
  for (std::uint32_t task = 2; task <= 20; ++task) {
    book.observe(ended(report(task, 80, FailureCause::none, 200 * kMibs)));
    book.made(TaskId(task), 1 << 30);
  }
  book.launched(kSite, 5, clock_at(20));
  EXPECT_FALSE(book.refresh().memory);
  EXPECT_NEAR(gantry::seconds(book.times().expected(TaskId(50), kWorker).value()), 8, 1e-6);
  EXPECT_EQ(book.memory().learned().seen(), 0U);
  EXPECT_EQ(book.outputs().seen(), 0U);
  EXPECT_EQ(book.times().seen().launch(kSite), std::nullopt);
}

TEST(Bookkeeper, WhatWasReplayedCountsAtTheEndOfTheReplay) {
  Bookkeeper book = keeper();
  for (std::uint32_t task = 1; task <= 8; ++task) {
    const AttemptReport old = report(task, 8, FailureCause::none, 200 * kMibs);
    Bookkeeper::Ended attempt = ended(old);
    attempt.is_replayed = true;
    book.observe(attempt);
  }
  EXPECT_FALSE(book.knows_times());
  EXPECT_EQ(book.memory().learned().seen(), 0U);
  book.end_replay();
  EXPECT_EQ(book.times().run_times().observations(), 8U);
  EXPECT_EQ(book.memory().learned().seen(), 8U);
}

TEST(Bookkeeper, ReplayedMemoryThatIsKnownAlreadyIsNotLearntTwice) {
  KnownTasks known = numbered();
  for (std::uint32_t task = 1; task <= 8; ++task)
    known.memory.observe(known.features(TaskId(task)), 200 * kMibs);
  Bookkeeper book = keeper(std::move(known));
  const AttemptReport old = report(1, 8, FailureCause::none, 200 * kMibs);
  Bookkeeper::Ended attempt = ended(old);
  attempt.is_replayed = true;
  book.observe(attempt);
  book.end_replay();
  EXPECT_EQ(book.memory().learned().seen(), 8U);
}

TEST(Bookkeeper, ATaskThatDiedOfMemoryWantsMoreUntilItSucceeds) {
  Bookkeeper book = keeper();
  const AttemptReport dead = report(1, 8, FailureCause::out_of_memory, 100 * kMibs);
  book.died_of_memory(ended(dead), 1024 * kMibs);
  EXPECT_EQ(book.memory().wanted(TaskId(1), 500 * kMibs), 2048 * kMibs);
  book.observe(ended(report(1, 8, FailureCause::none, 1500 * kMibs)));
  EXPECT_EQ(book.memory().wanted(TaskId(1), 500 * kMibs), 500 * kMibs);
}

TEST(Bookkeeper, OutputsAreLearntUnlessTheyAreKnown) {
  Bookkeeper book = keeper();
  KnownTasks declared = numbered();
  declared.learns_outputs = false;
  Bookkeeper told = keeper(std::move(declared));
  for (std::uint32_t task = 1; task <= 8; ++task) {
    book.made(TaskId(task), 16 * kMibs);
    told.made(TaskId(task), 16 * kMibs);
  }
  EXPECT_EQ(book.output_bytes(TaskId(50)), std::nullopt);
  EXPECT_TRUE(book.refresh().outputs);
  EXPECT_EQ(book.output_bytes(TaskId(50)), 16.0 * kMibs);
  ASSERT_TRUE(book.expected_outputs(TaskId(50)));
  EXPECT_NEAR(book.expected_outputs(TaskId(50))->value, 16.0 * kMibs, 1);
  EXPECT_FALSE(told.refresh().outputs);
}

TEST(Bookkeeper, ScoresForecastsAndKnowsWhichSitesAreOnTime) {
  Bookkeeper book = keeper();
  book.score(report(1, 30), std::chrono::seconds(10), kSite);
  EXPECT_EQ(book.accuracy().scored(), 1U);
  EXPECT_TRUE(book.on_time().empty()) << "three times as long";
  book.score(report(2, 20), std::chrono::seconds(10), std::nullopt);
  EXPECT_TRUE(book.on_time().empty()) << "its host is gone";
  book.score(report(3, 20), std::chrono::seconds(10), kSite);
  EXPECT_EQ(book.on_time().at(kSite), clock_at(20));
  book.score(report(4, 20, FailureCause::exit_code), std::chrono::seconds(10), kSite);
  EXPECT_EQ(book.accuracy().scored(), 3U);
}

TEST(Bookkeeper, ARunThatKeepsItsPromisesIsSurerOfItsEnd) {
  const auto width_after = [](bool put_off) {
    Bookkeeper book = keeper(numbered(1000));
    book.pass(clock_at(0), 0);
    for (int i = 0; i < 30; ++i) book.observe(ended(report(1, 10)));
    OpenRun run{.hosts = {{.id = kWorker, .slots = 1}}, .total = 1000};
    int now = 0;
    for (run.ended = 10; run.ended <= 400; run.ended += 10) {
      run.to_start = 1000 - run.ended;
      run.cost_to_start = static_cast<double>(run.to_start);
      // Ten tasks in a hundred seconds, as promised, or in a thousand.
      now += put_off ? 1000 : 100;
      book.pass(clock_at(now), run.ended);
      if (book.is_look_due(run.ended, run.total)) book.look_back(run, clock_at(now));
    }
    EXPECT_FALSE(book.is_look_due(run.ended - 10, run.total));
    const Eta eta = book.eta(run, clock_at(now));
    EXPECT_GT(eta.expected, Duration{0});
    return gantry::seconds(eta.latest - eta.expected) / gantry::seconds(eta.expected);
  };
  EXPECT_GT(width_after(true), 2 * width_after(false));
}

TEST(Bookkeeper, WhatEndedBeforeTheRunBeganIsNoPartOfIt) {
  Bookkeeper book = keeper();
  book.observe(ended(report(1, 10)));
  book.pass(clock_at(0), 90);
  EXPECT_FALSE(book.is_look_due(90, 100)) << "none of the ten that are left";
  EXPECT_TRUE(book.is_look_due(91, 100));
}

}  // namespace
}  // namespace gantry::forecast
