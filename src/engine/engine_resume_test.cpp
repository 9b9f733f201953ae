#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/engine_fixture.hpp"
#include "engine/one_run.hpp"

namespace gantry::engine {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr HostId kHost(1);
TaskKey key(std::uint32_t task, std::uint32_t attempt) {
  return {RunId(1), TaskId(task), AttemptId(attempt)};
}
AttemptEnded ended(std::uint32_t task, std::uint32_t attempt,
                   FailureCause cause = FailureCause::none) {
  AttemptEnded event;
  event.report.key = key(task, attempt);
  event.report.cause = cause;
  event.report.started = at(0);
  event.report.ended = at(1);
  event.host = kHost;
  return event;
}
AttemptStarted running(std::uint32_t task, std::uint32_t attempt) {
  return {key(task, attempt), kHost, at(0)};
}
HostUp host(std::uint32_t cores) {
  return {{kHost, "h", cores, 0}};
}

/// What decide() starts, as task.attempt.
std::vector<std::pair<std::uint32_t, std::uint32_t>> starts(OneRun& engine) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> list;
  for (const Action& action : engine.decide(at(2)))
    if (const auto* start = std::get_if<StartAttempt>(&action))
      list.emplace_back(start->key.task.value(), start->key.attempt.value());
  return list;
}

/// The journal of an earlier session: 1 done, 2 failed, 3 cancelled, 4 reused, 5 done but
/// invalidated, 6 lost, 7 untouched.
OneRun replayed() {
  OneRun engine({.count = 7, .retry = {.retries = 1}}, {});
  engine.apply(ended(1, 1));
  engine.apply(ended(2, 1, FailureCause::exit_code));
  engine.apply(ended(2, 2, FailureCause::exit_code));
  engine.apply(CancelRequested{RunId(1), false, {TaskId(3)}, at(0)});
  TaskReused reused;
  reused.run = RunId(1);
  reused.task = TaskId(4);
  engine.apply(reused);
  engine.apply(ended(5, 1));
  engine.apply(TaskInvalidated{RunId(1), TaskId(5), "input changed", at(0)});
  engine.apply(ended(6, 1, FailureCause::lost));
  return engine;
}

TEST(EngineResume, ANumberThatMayBeTakenElsewhereIsPassedOver) {
  OneRun engine({.count = 2}, {});
  engine.resume();
  engine.pass_over_numbers(true);
  engine.apply(host(1));
  EXPECT_THAT(starts(engine), ElementsAre(std::pair(1U, 2U), std::pair(2U, 2U)));
  engine.apply(running(1, 2));
  // The host of the earlier gantry is back, and has run the first one all the time.
  constexpr HostId kOther(2);
  engine.apply(HostUp{{kOther, "other", 1, 0}});
  engine.pass_over_numbers(false);
  engine.apply(AttemptStarted{key(1, 1), kOther, at(0)});
  EXPECT_TRUE(engine.awaits(key(1, 1), kOther));
  AttemptEnded success = ended(1, 1);
  success.host = kOther;
  engine.apply(success);
  EXPECT_EQ(engine.state(TaskId(1)), TaskState::done);
  EXPECT_EQ(engine.counts().failed, 0U);
}

TEST(EngineResume, OnlyOneNumberIsPassedOver) {
  OneRun engine({.count = 1, .retry = {.retries = 1, .max_backoff = Duration{0}}}, {});
  engine.resume();
  engine.pass_over_numbers(true);
  engine.apply(host(1));
  EXPECT_THAT(starts(engine), ElementsAre(std::pair(1U, 2U)));
  engine.apply(ended(1, 2, FailureCause::exit_code));
  EXPECT_THAT(starts(engine), ElementsAre(std::pair(1U, 3U)));
}

TEST(EngineResume, ReplayRebuildsTheState) {
  const OneRun engine = replayed();
  EXPECT_EQ(engine.state(TaskId(1)), TaskState::done);
  EXPECT_EQ(engine.state(TaskId(2)), TaskState::failed);
  EXPECT_EQ(engine.state(TaskId(3)), TaskState::cancelled);
  EXPECT_EQ(engine.state(TaskId(4)), TaskState::done);
  EXPECT_EQ(engine.counts().done, 2U);
  EXPECT_EQ(engine.counts().reused, 1U);
  EXPECT_EQ(engine.counts().pending, 3U);
}

TEST(EngineResume, RunGoesOnWithAllThatIsNotDone) {
  OneRun engine = replayed();
  engine.resume();
  EXPECT_EQ(engine.counts().pending, 5U);
  engine.apply(host(8));
  using P = std::pair<std::uint32_t, std::uint32_t>;
  EXPECT_THAT(starts(engine), ElementsAre(P{2, 3}, P{3, 1}, P{5, 2}, P{6, 2}, P{7, 1}));
  engine.apply(ended(2, 3, FailureCause::exit_code));  // retries are fresh
  EXPECT_EQ(engine.state(TaskId(2)), TaskState::pending);
}

TEST(EngineResume, AdoptedAttemptsAreNotStartedBesideTheirTwin) {
  OneRun engine = replayed();
  engine.resume();
  engine.apply(host(2));
  engine.apply(running(2, 5));
  engine.apply(running(7, 1));
  engine.apply(ended(6, 2));    // a report nobody had acknowledged
  engine.apply(running(1, 2));  // done: its twin changes nothing, but for the place that it holds
  engine.apply(ended(1, 3, FailureCause::exit_code));
  EXPECT_EQ(engine.counts().running, 2U);
  EXPECT_EQ(engine.state(TaskId(6)), TaskState::done);
  EXPECT_EQ(engine.state(TaskId(1)), TaskState::done);
  using P = std::pair<std::uint32_t, std::uint32_t>;
  // Two slots and two ahead; three of these four places are taken.
  EXPECT_THAT(starts(engine), ElementsAre(P{3, 1}));
  engine.apply(ended(1, 2, FailureCause::cancelled));
  EXPECT_THAT(starts(engine), ElementsAre(P{5, 2}));
  engine.apply(ended(2, 5, FailureCause::lost));
  EXPECT_THAT(starts(engine), ElementsAre(P{2, 6}));
}

TEST(EngineResume, WhatAnEarlierSessionCancelledRunsAgain) {
  OneRun engine = replayed();
  engine.resume();
  engine.apply(host(2));
  engine.apply(running(3, 1));
  engine.apply(ended(3, 1, FailureCause::cancelled));
  EXPECT_EQ(engine.state(TaskId(3)), TaskState::pending);
}

TEST(EngineResume, OnlyTheSelectedTasksRun) {
  OneRun engine = replayed();
  engine.resume_only({TaskId(1), TaskId(2)});
  EXPECT_EQ(engine.state(TaskId(1)), TaskState::pending);
  EXPECT_EQ(engine.state(TaskId(3)), TaskState::cancelled);
  engine.apply(host(8));
  engine.apply(running(6, 2));
  using P = std::pair<std::uint32_t, std::uint32_t>;
  EXPECT_THAT(starts(engine), ElementsAre(P{1, 2}, P{2, 3}));
  engine.apply(ended(1, 2));
  engine.apply(ended(2, 3));
  EXPECT_TRUE(engine.finished());  // though 6 still runs
  EXPECT_EQ(engine.state(TaskId(6)), TaskState::running);
  engine.apply(ended(6, 2, FailureCause::exit_code));
  EXPECT_EQ(engine.state(TaskId(6)), TaskState::failed);  // not selected: nothing is tried again
  EXPECT_THAT(starts(engine), IsEmpty());
}

TEST(EngineResume, ASelectedTaskThatStillRunsIsAdopted) {
  OneRun engine = replayed();
  engine.resume_only({TaskId(7)});
  engine.apply(host(8));
  engine.apply(running(7, 1));
  EXPECT_THAT(starts(engine), IsEmpty());
  EXPECT_FALSE(engine.finished());
  engine.apply(ended(7, 1));
  EXPECT_TRUE(engine.finished());
}

TEST(EngineResume, ForecastsLearnFromTheJournal) {
  OneRun engine({.count = 5}, {});
  engine.apply(ended(1, 1));  // 1 s
  engine.resume();
  engine.apply(host(2));
  EXPECT_EQ(engine.eta(at(2)).expected, std::chrono::seconds(2));  // 4 x 1 s on 2 slots
}

}  // namespace
}  // namespace gantry::engine
