// Two attempts of one task at once: the first success counts, and nothing counts twice.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/engine_fixture.hpp"
#include "engine/one_run.hpp"

namespace gantry::engine {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr SiteId kTwinSite(1);

/// Answers with what it was told to, also when no task is ready.
class Told final : public schedule::Scheduler {
 public:
  struct Says {
    schedule::Plan next{};
    std::vector<schedule::RefusalReason> refused{};
    std::vector<schedule::HostLoad> hosts{};
  };
  explicit Told(Says* says) : says_(says) {}
  [[nodiscard]] schedule::Appetite appetite() const override { return {.to_the_end = true}; }
  void observe(const Event&) override {}
  schedule::Plan plan(const schedule::World& world) override {
    for (const schedule::Refused& each : world.refused) says_->refused.push_back(each.why);
    says_->hosts.assign(world.hosts.begin(), world.hosts.end());
    return std::exchange(says_->next, {});
  }

 private:
  Says* says_;
};

TaskKey attempt_of(std::uint32_t task, std::uint32_t attempt) {
  return {RunId(1), TaskId(task), AttemptId(attempt)};
}

std::string as_text(const Action& action) {
  const auto name = [](const auto& a) {
    return std::to_string(a.key.task.value()) + "." + std::to_string(a.key.attempt.value()) + "@" +
           std::to_string(a.host.value());
  };
  if (const auto* start = std::get_if<StartAttempt>(&action)) return "start " + name(*start);
  if (const auto* stop = std::get_if<CancelAttempt>(&action)) return "cancel " + name(*stop);
  if (const auto* recall = std::get_if<RecallQueued>(&action))
    return "recall @" + std::to_string(recall->host.value());
  const auto& move = std::get<MoveFile>(action);
  return "move " + std::to_string(move.file.value()) + " to " + std::to_string(move.to.value());
}

/// Hosts 1, 2 and 3 with a slot each; task 1 runs on host 1. Host 3 is in the lab.
struct Trio {
  Told::Says says;
  OneRun engine;
  int now = 0;

  explicit Trio(Workload workload = {.count = 1}, Policy policy = {})
      : engine(std::move(workload), policy, std::make_unique<Told>(&says)) {
    for (std::uint32_t id = 1; id <= 3; ++id) up(id);
    says.next.starts = {{schedule::ClassId(1), HostId(1)}};
    decide();
    started(1, 1, 1);
  }

  void up(std::uint32_t id) {
    engine.apply(HostUp{{.id = HostId(id),
                         .name = "h",
                         .cores = 1,
                         .memory = 0,
                         .site = id == 3 ? kTwinSite : kHome}});
  }
  void down(std::uint32_t id) { engine.apply(HostDown{HostId(id)}); }
  std::vector<std::string> decide() {
    std::vector<std::string> lines;
    for (const Action& action : engine.decide(at(now))) lines.push_back(as_text(action));
    return lines;
  }
  std::vector<std::string> twin(std::uint32_t host, std::uint32_t task = 1) {
    says.next.twins = {{TaskId(task), HostId(host)}};
    up(1);  // something happens: the strategy is asked
    return decide();
  }
  /// With its twin, attempt 2, on host 2.
  Trio& twice() {
    EXPECT_THAT(twin(2), ElementsAre("start 1.2@2"));
    started(1, 2, 2);
    return *this;
  }
  void started(std::uint32_t task, std::uint32_t attempt, std::uint32_t host) {
    engine.apply(AttemptStarted{attempt_of(task, attempt), HostId(host), at(0)});
  }
  void returned(std::uint32_t attempt) {
    engine.apply(AttemptReturned{attempt_of(1, attempt), HostId(attempt)});
  }
  /// Of an attempt on the host of its number, or another.
  void ended(std::uint32_t attempt, FailureCause cause = FailureCause::none,
             std::uint32_t host = 0) {
    AttemptEnded event = end_of(attempt, cause);
    if (host != 0) event.host = HostId(host);
    engine.apply(event);
  }
  static AttemptEnded end_of(std::uint32_t attempt, FailureCause cause = FailureCause::none) {
    AttemptEnded event;
    event.report.key = attempt_of(1, attempt);
    event.report.cause = cause;
    event.report.code = 1;
    event.report.started = at(0);
    event.report.ended = at(1);
    event.host = HostId(attempt);
    return event;
  }
  [[nodiscard]] TaskState state() const { return engine.state(TaskId(1)); }
  /// What the strategy saw when it was asked last: the load of each host, in slots.
  std::vector<schedule::Load> loads() {
    up(1);
    decide();
    std::vector<schedule::Load> list;
    for (const auto& host : says.hosts) list.push_back(host.load / schedule::kFull);
    return list;
  }
  /// Why what was wanted last was refused.
  std::vector<schedule::RefusalReason> refused() {
    says.refused.clear();
    decide();
    return says.refused;
  }
};

TEST(EngineTwins, TheFirstSuccessCountsAndEndsTheOther) {
  for (const std::uint32_t winner : {1U, 2U}) {
    Trio t;
    t.twice();
    EXPECT_EQ(t.engine.counts().running, 1U);  // tasks, not attempts
    t.ended(winner);
    EXPECT_EQ(t.state(), TaskState::done);
    EXPECT_EQ(t.engine.counts().done, 1U);
    EXPECT_FALSE(t.engine.finished()) << "the other may still write its outputs";
    const std::uint32_t loser = 3 - winner;
    EXPECT_TRUE(!t.engine.awaits(attempt_of(1, loser), HostId(loser)));
    const std::string number = std::to_string(loser);
    EXPECT_THAT(t.decide(), ElementsAre("cancel 1." + number + "@" + number));
    EXPECT_THAT(t.decide(), IsEmpty());
    t.ended(loser, FailureCause::cancelled);
    EXPECT_EQ(t.engine.counts().done, 1U);
    EXPECT_EQ(t.engine.counts().running, 0U);
    EXPECT_TRUE(t.engine.finished());
  }
}

TEST(EngineTwins, WhateverTheLoserEndsAsChangesNothing) {
  for (const auto cause :
       {FailureCause::none, FailureCause::exit_code, FailureCause::lost, FailureCause::cancelled}) {
    Trio t;
    t.twice().ended(1);
    t.ended(2, cause);
    t.ended(2, cause);
    EXPECT_EQ(t.engine.counts().done, 1U);
    EXPECT_EQ(t.engine.counts().failed, 0U);
    EXPECT_THAT(t.decide(), IsEmpty());  // it ended before it could be cancelled
    EXPECT_TRUE(t.engine.finished());
  }
}

TEST(EngineTwins, ALeftoverKeepsItsPlaceUntilItEndsOrItsHostGoes) {
  Trio t({.count = 2});
  t.twice().ended(1);
  EXPECT_THAT(t.loads(), ElementsAre(0, 1, 0));
  t.ended(2, FailureCause::cancelled);
  EXPECT_THAT(t.loads(), ElementsAre(0, 0, 0));

  Trio gone({.count = 2});
  gone.twice().ended(1);
  gone.down(2);
  EXPECT_THAT(gone.loads(), ElementsAre(0, 0));
  gone.up(2);
  gone.started(1, 2, 2);  // it was only out of reach
  EXPECT_THAT(gone.loads(), ElementsAre(0, 1, 0));
  EXPECT_EQ(gone.engine.counts().done, 1U);
}

TEST(EngineTwins, OneLostOrReturnedLeavesTheOther) {
  Trio lost;
  lost.twice().ended(1, FailureCause::lost);
  EXPECT_EQ(lost.state(), TaskState::running);
  lost.ended(2);
  EXPECT_TRUE(lost.engine.finished());
  EXPECT_EQ(lost.engine.counts().done, 1U);

  Trio returned;
  EXPECT_THAT(returned.twin(2), ElementsAre("start 1.2@2"));
  returned.returned(2);
  EXPECT_EQ(returned.state(), TaskState::running);
  EXPECT_THAT(returned.twin(3), ElementsAre("start 1.2@3"));  // a number that was not used
}

TEST(EngineTwins, AHostThatGoesLeavesTheOther) {
  for (const std::uint32_t host : {1U, 2U}) {
    Trio t;
    t.twice().down(host);
    EXPECT_EQ(t.state(), TaskState::running);
    EXPECT_THAT(t.decide(), IsEmpty());
    t.ended(3 - host);
    EXPECT_TRUE(t.engine.finished());
  }
  Trio both;
  both.twice().down(1);
  both.down(2);
  EXPECT_EQ(both.state(), TaskState::pending);
}

TEST(EngineTwins, AnAttemptThatComesBackIsATwinAgain) {
  Trio t;
  t.twice().down(1);
  t.up(1);
  t.started(1, 1, 1);
  t.ended(2, FailureCause::lost);
  EXPECT_EQ(t.state(), TaskState::running);
  t.ended(1);
  EXPECT_EQ(t.state(), TaskState::done);
  EXPECT_TRUE(t.engine.finished());
}

TEST(EngineTwins, TheLastFailureIsTheTasks) {
  Trio t({.count = 1, .retry = {.retries = 1, .backoff = std::chrono::seconds(9)}});
  t.twice().ended(1, FailureCause::exit_code);
  EXPECT_EQ(t.state(), TaskState::running);
  // Else a task that always fails would be hidden for ever behind twins of twins.
  EXPECT_THAT(t.twin(3), IsEmpty());
  EXPECT_THAT(t.refused(), ElementsAre(schedule::RefusalReason::no_twin_allowed));
  t.ended(2, FailureCause::exit_code);
  EXPECT_EQ(t.state(), TaskState::waiting);
  t.now = 20;
  t.says.next.starts = {{schedule::ClassId(2), HostId(1)}};
  EXPECT_THAT(t.decide(), ElementsAre("start 1.3@1"));
  EXPECT_THAT(t.twin(2), ElementsAre("start 1.4@2"));
  t.ended(4, FailureCause::exit_code, 2);
  t.ended(3, FailureCause::exit_code, 1);
  EXPECT_EQ(t.state(), TaskState::failed);  // two rounds: one retry
  EXPECT_TRUE(t.engine.finished());
}

TEST(EngineTwins, AFailureThatASuccessFollowsIsNone) {
  Trio t({.count = 1}, {.max_fails = 1});
  t.twice().ended(2, FailureCause::exit_code);
  t.ended(1);
  EXPECT_EQ(t.state(), TaskState::done);
  EXPECT_EQ(t.engine.counts().failed, 0U);
  EXPECT_TRUE(t.engine.draining().empty());
}

TEST(EngineTwins, CancellingATaskCancelsBoth) {
  Trio t;
  t.twice().engine.apply(CancelRequested{RunId(1), false, {TaskId(1)}, at(0)});
  EXPECT_THAT(t.decide(), ElementsAre("cancel 1.1@1", "cancel 1.2@2"));
  t.ended(1, FailureCause::cancelled);
  EXPECT_EQ(t.state(), TaskState::running);
  EXPECT_THAT(t.decide(), IsEmpty());
  t.ended(2, FailureCause::cancelled);
  EXPECT_EQ(t.state(), TaskState::cancelled);
  EXPECT_TRUE(t.engine.finished());
}

TEST(EngineTwins, IsRefusedWhereItMakesNoSense) {
  using enum schedule::RefusalReason;
  const auto refused = [](Trio& t, std::uint32_t host, std::uint32_t task = 1) {
    EXPECT_THAT(t.twin(host, task), IsEmpty());
    return t.refused();
  };
  Trio same;
  EXPECT_THAT(refused(same, 1), ElementsAre(no_twin_allowed));  // it is there already
  EXPECT_THAT(refused(same, 9), ElementsAre(host_gone));
  EXPECT_THAT(refused(same, 2, 7), ElementsAre(no_twin_allowed));  // no such task
  same.engine.apply(HostDraining{HostId(2)});
  EXPECT_THAT(refused(same, 2), ElementsAre(host_draining));
  Trio third;
  third.twice();
  EXPECT_THAT(refused(third, 3), ElementsAre(no_twin_allowed));  // it has two
  Trio pending({.count = 2});
  EXPECT_THAT(refused(pending, 2, 2), ElementsAre(no_twin_allowed));  // not even one
  Trio computed;
  computed.engine.apply(AttemptComputed{attempt_of(1, 1), HostId(1)});
  EXPECT_THAT(refused(computed, 2), ElementsAre(no_twin_allowed));  // its result is on its way
  Trio cancelled;
  cancelled.engine.apply(CancelRequested{RunId(1), false, {TaskId(1)}, at(0)});
  cancelled.decide();
  EXPECT_THAT(refused(cancelled, 2), ElementsAre(no_twin_allowed));
  Trio full({.count = 2});
  full.says.next.starts = {{schedule::ClassId(1), HostId(2)}};
  full.up(1);
  EXPECT_THAT(full.decide(), ElementsAre("start 2.1@2"));
  EXPECT_THAT(refused(full, 2), ElementsAre(no_room));  // nothing is doubled ahead of time
  Trio draining;
  draining.engine.apply(DrainRequested{RunId(1), "enough"});
  EXPECT_THAT(draining.twin(2), IsEmpty());
}

TEST(EngineTwins, OneWhoseTwinHasComputedIsShownToBeLeftAlone) {
  Trio t({.count = 2});
  t.twice().engine.apply(AttemptComputed{attempt_of(1, 2), HostId(2)});
  EXPECT_THAT(t.loads(), ElementsAre(1, 0, 0));
  ASSERT_EQ(t.says.hosts[0].ongoing.size(), 1U);
  EXPECT_TRUE(t.says.hosts[0].ongoing[0].alone);
}

/// Task 2 took 10 s. Task 1, which runs on host 1, costs three times as much.
struct Forecasting : Trio {
  explicit Forecasting(std::uint32_t count)
      : Trio({.count = count, .cost = cost, .file_bytes = {5}, .files = files}) {
    AttemptEnded sample = end_of(1);
    sample.report.key = attempt_of(2, 1);
    sample.report.ended = at(10);
    engine.apply(sample);
  }
  static double cost(TaskId task) { return task.value() == 1 ? 3 : 1; }
  static std::vector<FileId> files(TaskId) { return {FileId(0)}; }
  [[nodiscard]] Duration eta() const { return engine.eta(at(5)).expected; }
};

TEST(EngineTwins, ForecastsCountTheTaskOnce) {
  // The end of 30 tasks is played, that of 300 calculated. Work that is counted twice shows where
  // more is left than the longest task takes.
  for (const std::uint32_t count : {2U, 30U, 300U}) {
    SCOPED_TRACE(count);
    Forecasting both(count);
    const Duration alone = both.eta();
    both.twice();
    EXPECT_EQ(both.eta(), alone);
    both.ended(1, FailureCause::lost);
    EXPECT_EQ(both.eta(), alone) << "with the second attempt, as old as the first";

    Forecasting coming(count);
    EXPECT_THAT(coming.twin(3), ElementsAre("move 0 to 1"));
    EXPECT_EQ(coming.eta(), alone) << "while its files travel";
  }
}

TEST(EngineTwins, ForecastsDoNotCountALeftover) {
  for (const std::uint32_t count : {30U, 300U}) {
    SCOPED_TRACE(count);
    Forecasting never(count);
    never.ended(1);
    Forecasting twin(count);
    twin.twice().ended(1);
    EXPECT_EQ(twin.eta(), never.eta());
  }
}

TEST(EngineEta, FollowsAPlanOfAllTasksUnlessThatMakesNoSense) {
  const auto eta_with_plan_until = [](int end) {
    Trio t({.count = 31});
    AttemptEnded sample = Trio::end_of(1);
    sample.report.ended = at(10);  // took 10 s; 30 are left for three slots
    t.engine.apply(sample);
    t.says.next.ends = at(end);
    t.up(1);
    t.decide();
    return gantry::seconds(t.engine.eta(at(0)).expected);
  };
  EXPECT_NEAR(eta_with_plan_until(150), 150, 1e-6);
  EXPECT_NEAR(eta_with_plan_until(80), 80, 1e-6);
  EXPECT_NEAR(eta_with_plan_until(10'000), 100, 1e-6);
  EXPECT_NEAR(eta_with_plan_until(1), 100, 1e-6);
}

TEST(EngineEta, FollowsNoPlanFromBeforeAnythingWasKnown) {
  Trio t({.count = 31});
  t.says.next.ends = at(150);
  t.up(1);
  t.decide();
  AttemptEnded sample = Trio::end_of(1);
  sample.report.ended = at(10);  // took 10 s; 30 are left for three slots
  t.engine.apply(sample);
  t.decide();
  // Ten rounds; one more, as a single task says little of the others.
  EXPECT_NEAR(gantry::seconds(t.engine.eta(at(0)).expected), 100, 11);
  t.says.next.ends = at(140);  // planned anew
  t.up(1);
  t.decide();
  EXPECT_NEAR(gantry::seconds(t.engine.eta(at(0)).expected), 140, 1e-6);
}

TEST(EngineTwins, HoldsItsPlaceWhileItsFilesTravel) {
  Workload reading{.count = 2};
  reading.file_bytes = {5};
  reading.files = [](TaskId) { return std::vector{FileId(0)}; };
  Trio t(reading);
  EXPECT_THAT(t.twin(3), ElementsAre("move 0 to 1"));
  EXPECT_EQ(t.state(), TaskState::running);
  EXPECT_THAT(t.loads(), ElementsAre(1, 0, 1));
  t.engine.apply(FileArrived{FileId(0), kTwinSite, at(1)});
  EXPECT_THAT(t.decide(), ElementsAre("start 1.2@3"));

  Trio early(reading);
  EXPECT_THAT(early.twin(3), ElementsAre("move 0 to 1"));
  early.ended(1);
  EXPECT_THAT(early.loads(), ElementsAre(0, 0, 0));
  early.engine.apply(FileArrived{FileId(0), kTwinSite, at(1)});
  EXPECT_THAT(early.decide(), IsEmpty());

  Trio failed(reading);
  EXPECT_THAT(failed.twin(3), ElementsAre("move 0 to 1"));
  failed.engine.apply(MoveFailed{FileId(0), kTwinSite, "no route", at(1)});
  EXPECT_EQ(failed.state(), TaskState::running);
  EXPECT_THAT(failed.loads(), ElementsAre(1, 0, 0));
  failed.ended(1, FailureCause::exit_code);
  EXPECT_EQ(failed.state(), TaskState::failed);
}

// After kill -9.

OneRun restarted(const std::vector<AttemptEnded>& journal) {
  OneRun engine({.count = 1}, {});
  for (const auto& event : journal) engine.apply(event);
  engine.resume();
  for (std::uint32_t id = 1; id <= 3; ++id) engine.apply(HostUp{{HostId(id), "h", 1, 0}});
  return engine;
}

TEST(EngineTwins, TwoFoundRunningAreBothAdoptedInAnyOrder) {
  for (const std::uint32_t first : {1U, 2U}) {
    OneRun engine = restarted({});
    engine.apply(AttemptStarted{attempt_of(1, first), HostId(first), at(0)});
    engine.apply(AttemptStarted{attempt_of(1, 3 - first), HostId(3 - first), at(0)});
    EXPECT_EQ(engine.counts().running, 1U);
    EXPECT_THAT(engine.decide(at(1)), IsEmpty());
    engine.apply(Trio::end_of(2));
    EXPECT_EQ(engine.state(TaskId(1)), TaskState::done);
    const auto actions = engine.decide(at(2));
    ASSERT_EQ(actions.size(), 1U);
    EXPECT_EQ(as_text(actions[0]), "cancel 1.1@1");
  }
}

TEST(EngineTwins, AThirdOneFoundIsEnded) {
  OneRun engine = restarted({});
  for (const std::uint32_t number : {1U, 2U, 3U})
    engine.apply(AttemptStarted{attempt_of(1, number), HostId(number), at(0)});
  const auto actions = engine.decide(at(1));
  ASSERT_EQ(actions.size(), 1U);
  EXPECT_EQ(as_text(actions[0]), "cancel 1.3@3");
}

TEST(EngineTwins, OneFoundRunningWhoseTwinIsInTheJournal) {
  // Attempt 2 failed; attempt 1 went on.
  OneRun engine = restarted({Trio::end_of(2, FailureCause::exit_code)});
  engine.apply(AttemptStarted{attempt_of(1, 1), HostId(1), at(0)});
  EXPECT_EQ(engine.state(TaskId(1)), TaskState::running);
  EXPECT_THAT(engine.decide(at(1)), IsEmpty());
  engine.apply(Trio::end_of(1));
  EXPECT_EQ(engine.state(TaskId(1)), TaskState::done);

  // Attempt 2 succeeded, and gantry was killed before attempt 1 was told to end.
  OneRun late = restarted({Trio::end_of(2)});
  late.apply(AttemptStarted{attempt_of(1, 1), HostId(1), at(0)});
  EXPECT_EQ(late.state(TaskId(1)), TaskState::done);
  EXPECT_FALSE(late.awaits(attempt_of(1, 1), HostId(1)));
  EXPECT_EQ(late.decide(at(1)).size(), 1U);
  EXPECT_FALSE(late.finished());
  late.apply(Trio::end_of(1, FailureCause::cancelled));
  EXPECT_TRUE(late.finished());
}

TEST(EngineTwins, ReplayTakesEndsInTheOrderOfTheJournal) {
  OneRun engine({.count = 1}, {});
  engine.apply(Trio::end_of(2, FailureCause::exit_code));
  EXPECT_EQ(engine.state(TaskId(1)), TaskState::failed);
  engine.apply(Trio::end_of(1));
  EXPECT_EQ(engine.state(TaskId(1)), TaskState::done);
  engine.apply(Trio::end_of(1));  // said twice
  EXPECT_EQ(engine.counts().done, 1U);

  OneRun failed({.count = 1}, {});
  failed.apply(Trio::end_of(2, FailureCause::lost));
  failed.apply(Trio::end_of(1, FailureCause::exit_code));
  EXPECT_EQ(failed.state(TaskId(1)), TaskState::failed);
}

// Stealing.

TEST(EngineSteals, ATaskThatWaitsForItsFilesGoesToAnotherHost) {
  Workload reading{.count = 2};
  reading.file_bytes = {5};
  reading.files = [](TaskId) { return std::vector{FileId(0)}; };
  Trio t(reading);
  t.says.next.starts = {{schedule::ClassId(1), HostId(3)}};
  t.up(1);
  EXPECT_THAT(t.decide(), ElementsAre("move 0 to 1"));
  EXPECT_EQ(t.engine.counts().staging, 1U);
  const auto steal = [&](std::uint32_t task, std::uint32_t host) {
    t.says.next.steals = {{TaskId(task), HostId(host)}};
    t.up(1);
    return t.decide();
  };
  using enum schedule::RefusalReason;
  EXPECT_THAT(steal(2, 3), IsEmpty());  // it is there already
  EXPECT_THAT(t.refused(), ElementsAre(not_waiting));
  EXPECT_THAT(steal(2, 1), IsEmpty());  // busy
  EXPECT_THAT(t.refused(), ElementsAre(no_room));
  EXPECT_THAT(steal(1, 2), IsEmpty());  // runs
  EXPECT_THAT(t.refused(), ElementsAre(not_waiting));
  EXPECT_THAT(steal(9, 2), IsEmpty());
  EXPECT_THAT(steal(2, 2), ElementsAre("start 2.1@2"));
  EXPECT_THAT(t.loads(), ElementsAre(1, 1, 0));
  EXPECT_EQ(t.engine.counts().staging, 0U);
  t.engine.apply(FileArrived{FileId(0), kTwinSite, at(1)});
  EXPECT_THAT(t.decide(), IsEmpty());
}

}  // namespace
}  // namespace gantry::engine
