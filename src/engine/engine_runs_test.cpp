// Several runs on one grid.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <string>

#include "engine/engine.hpp"
#include "engine/engine_files_fixture.hpp"
#include "engine/engine_fixture.hpp"
#include "schedule/registry.hpp"

namespace gantry::engine {
namespace {

using ::testing::Contains;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr RunId kOne{1};
constexpr RunId kTwo{2};

AttemptEnded end_of(const StartAttempt& start, int began, int ended) {
  AttemptEnded event;
  event.report.key = start.key;
  event.report.started = at(began);
  event.report.ended = at(ended);
  event.host = start.host;
  return event;
}

std::vector<StartAttempt> starts_of(Engine& engine, int now) {
  std::vector<StartAttempt> starts;
  for (const Action& action : engine.decide(at(now)))
    if (const auto* start = std::get_if<StartAttempt>(&action)) starts.push_back(*start);
  return starts;
}

/// Runs whatever is started, each task for a minute, and counts what each run started until then.
std::map<RunId, int> run_until(Engine& engine, int until) {
  std::map<RunId, int> started;
  std::vector<StartAttempt> running;
  for (int now = 0; now <= until; now += 60) {
    for (const StartAttempt& start : running) engine.apply(end_of(start, now - 60, now));
    running.clear();
    for (const StartAttempt& start : starts_of(engine, now)) {
      ++started[start.key.run];
      engine.apply(AttemptStarted{start.key, start.host, at(now)});
      running.push_back(start);
    }
  }
  return started;
}

TEST(EngineRuns, ShareTheGridByTheirWeights) {
  Engine engine;
  engine.add_run(kOne, {.count = 1000}, {}, nullptr, 1);
  engine.add_run(kTwo, {.count = 1000}, {}, nullptr, 3);
  engine.apply(HostUp{{HostId(1), "here", 4, 1ULL << 30}});
  const auto started = run_until(engine, 6000);
  // 101 rounds of 4 slots, and a few tasks ahead before run times were known.
  EXPECT_NEAR(started.at(kOne), 101, 5);
  EXPECT_NEAR(started.at(kTwo), 303, 5);
}

TEST(EngineRuns, WhatIsStartedBeforeRunTimesAreKnownDoesNotWeigh) {
  Engine engine;
  engine.add_run(kOne, {.count = 1000}, {}, nullptr, 1);
  engine.add_run(kTwo, {.count = 1000}, {}, nullptr, 3);
  engine.apply(HostUp{{HostId(1), "here", 2, 1ULL << 30}});
  std::deque<StartAttempt> given;
  std::map<RunId, int> ended;
  for (int i = 0; i < 100; ++i) {  // one ends every 5 ms, after 10 ms
    const TimePoint now = from_ns(i * 5'000'000);
    for (const Action& action : engine.decide(now))
      if (const auto* start = std::get_if<StartAttempt>(&action)) given.push_back(*start);
    AttemptEnded event;
    event.report.key = given.front().key;
    event.report.started = now - std::chrono::milliseconds(10);
    event.report.ended = now;
    event.host = given.front().host;
    given.pop_front();
    engine.apply(AttemptStarted{event.report.key, event.host, event.report.started});
    engine.apply(event);
    ++ended[event.report.key.run];
  }
  EXPECT_NEAR(ended.at(kTwo), 75, 10);
}

/// Whoever waits for a slot that another run leaves gets it, by any strategy, and not only when its
/// next plan is due.
TEST(EngineRuns, RoomThatOneLeavesIsTakenByTheOtherAtOnce) {
  for (const std::string_view name : schedule::strategy_names()) {
    Engine engine;
    for (const RunId run : {kOne, kTwo})
      engine.add_run(run, {.count = 2}, {}, schedule::make_scheduler(std::string(name)).value(), 1);
    engine.apply(HostUp{{HostId(1), "here", 2, 1ULL << 30}});
    int started = 0;
    std::vector<StartAttempt> running = starts_of(engine, 0);
    for (int now = 1; !running.empty() && now < 10; ++now) {
      started += static_cast<int>(running.size());
      for (const StartAttempt& start : running) {
        engine.apply(AttemptStarted{start.key, start.host, at(now - 1)});
        engine.apply(end_of(start, now - 1, now));
      }
      running = starts_of(engine, now);
    }
    EXPECT_EQ(started, 4) << name;
  }
}

/// The same for the place that a task has kept while its file travels.
TEST(EngineRuns, APlaceThatOneGivesUpIsTakenByTheOtherAtOnce) {
  const Event cancel = CancelRequested{kOne, false, {TaskId(1)}, at(1)};
  const Event drain = DrainRequested{kOne, "enough"};
  for (const Event* gives_up : {&cancel, &drain}) {
    for (const std::string_view name : schedule::strategy_names()) {
      Engine engine;
      schedule::Plan first{.starts = {{schedule::ClassId(1), HostId(1)}}};
      engine.add_run(kOne, reading({{FileId(0)}, {FileId(0)}}), {},
                     std::make_unique<Scripted>(&first));
      engine.apply(HostUp{host_at(1, kLab)});
      ASSERT_THAT(starts_of(engine, 0), IsEmpty());
      ASSERT_EQ(engine.run(kOne).counts().staging, 1U);
      engine.add_run(kTwo, {.count = 1}, {}, schedule::make_scheduler(std::string(name)).value());
      std::size_t started = starts_of(engine, 0).size();  // perhaps ahead
      engine.apply(*gives_up);
      started += starts_of(engine, 1).size();
      EXPECT_EQ(started, 1U) << name;
    }
  }
}

/// Wants four tasks whenever it is asked, whatever its turn.
class Greedy final : public schedule::Scheduler {
 public:
  explicit Greedy(std::vector<schedule::RefusalReason>* refused) : refused_(refused) {}
  void observe(const Event&) override {}
  schedule::Plan plan(const schedule::World& world) override {
    for (const schedule::Refused& each : world.refused) refused_->push_back(each.why);
    EXPECT_DOUBLE_EQ(world.classes[0].share, 0.5);
    return {.starts = std::vector(4, schedule::Intent{world.classes[0].id, HostId(1)})};
  }

 private:
  std::vector<schedule::RefusalReason>* refused_;
};

TEST(EngineRuns, AStrategyThatWantsMoreThanItsTurnIsRefused) {
  Engine engine;
  std::vector<schedule::RefusalReason> refused;
  for (const RunId run : {kOne, kTwo})
    engine.add_run(run, {.count = 100}, {}, std::make_unique<Greedy>(&refused));
  engine.apply(HostUp{{HostId(1), "here", 4, 1ULL << 30}});
  std::map<RunId, int> started;
  for (const StartAttempt& start : starts_of(engine, 0)) ++started[start.key.run];
  // Four run and four lie ready behind them; each run may start one at a time.
  EXPECT_EQ(started, (std::map<RunId, int>{{kOne, 4}, {kTwo, 4}}));
  EXPECT_THAT(refused, Contains(schedule::RefusalReason::not_its_turn));
}

TEST(EngineRuns, LeaveNothingIdleWhenOneHasNothingToDo) {
  Engine engine;
  engine.add_run(kOne, {.count = 10}, {});
  engine.add_run(kTwo, {.count = 400}, {});
  engine.apply(HostUp{{HostId(1), "here", 4, 1ULL << 30}});
  const auto started = run_until(engine, 60 * 60);
  EXPECT_EQ(started.at(kOne), 10);
  EXPECT_GE(started.at(kOne) + started.at(kTwo), 4 * 61);
  EXPECT_TRUE(engine.run(kOne).finished());
  EXPECT_FALSE(engine.run(kTwo).finished());
}

TEST(EngineRuns, KnowTheirOwnTasksOnly) {
  Engine engine;
  engine.add_run(kOne, {.count = 1}, {});
  engine.add_run(kTwo, {.count = 1}, {});
  engine.apply(HostUp{{HostId(1), "here", 2, 1ULL << 30}});
  const auto starts = starts_of(engine, 0);
  ASSERT_THAT(starts, SizeIs(2));
  engine.apply(end_of(starts[0], 0, 1));
  const RunId ended = starts[0].key.run;
  const RunId other = starts[1].key.run;
  ASSERT_NE(ended, other);
  EXPECT_EQ(engine.run(ended).counts().done, 1U);
  EXPECT_EQ(engine.run(other).counts().done, 0U);
  EXPECT_TRUE(engine.run(ended).finished());
  EXPECT_FALSE(engine.run(other).finished());
}

TEST(EngineRuns, ADrainedRunGivesItsPlaceToOthers) {
  Engine engine;
  engine.add_run(kOne, {.count = 100}, {});
  engine.add_run(kTwo, {.count = 100}, {});
  engine.apply(HostUp{{HostId(1), "here", 1, 1ULL << 30}});
  std::vector<TaskKey> handed;
  for (const StartAttempt& start : starts_of(engine, 0)) handed.push_back(start.key);
  engine.apply(AttemptStarted{handed.front(), HostId(1), at(0)});
  engine.apply(DrainRequested{kOne, "enough"});
  std::vector<TaskKey> recalled;
  for (const Action& action : engine.decide(at(1)))
    if (const auto* recall = std::get_if<RecallQueued>(&action))
      recalled.insert(recalled.end(), recall->keys.begin(), recall->keys.end());
  for (const TaskKey& key : recalled) EXPECT_EQ(key.run, kOne) << "the other's stay";
  for (const TaskKey& key : recalled) engine.apply(AttemptReturned{key, HostId(1)});
  for (const StartAttempt& start : starts_of(engine, 2)) EXPECT_EQ(start.key.run, kTwo);
}

TEST(EngineRuns, AHostThatGoesTakesTheAttemptsOfAll) {
  Engine engine;
  engine.add_run(kOne, {.count = 1}, {});
  engine.add_run(kTwo, {.count = 1}, {});
  engine.apply(HostUp{{HostId(1), "here", 2, 1ULL << 30}});
  ASSERT_THAT(starts_of(engine, 0), SizeIs(2));
  engine.apply(HostDown{HostId(1)});
  EXPECT_EQ(engine.run(kOne).counts().pending, 1U);
  EXPECT_EQ(engine.run(kTwo).counts().pending, 1U);
  engine.apply(HostUp{{HostId(2), "there", 2, 1ULL << 30}});
  EXPECT_THAT(starts_of(engine, 1), SizeIs(2));
}

TEST(EngineRuns, TasksMayBeAddedWhileARunIsOpen) {
  Engine engine;
  engine.add_run(kOne, {}, {});
  engine.apply(HostUp{{HostId(1), "here", 8, 1ULL << 30}});
  engine.apply(TasksAdded{kOne, {NodeId(0), 0, TaskId(1), 2}, {}, at(0)});
  const auto first = starts_of(engine, 0);
  ASSERT_THAT(first, SizeIs(2));
  for (const StartAttempt& start : first) engine.apply(end_of(start, 0, 1));
  EXPECT_FALSE(engine.run(kOne).finished()) << "more may come";
  engine.apply(TasksAdded{kOne, {NodeId(0), 0, TaskId(3), 1}, {}, at(1)});
  const auto second = starts_of(engine, 1);
  ASSERT_THAT(second, SizeIs(1));
  EXPECT_EQ(second[0].key.task, TaskId(3));
  engine.apply(RunClosed{kOne, at(1)});
  EXPECT_FALSE(engine.run(kOne).finished());
  engine.apply(end_of(second[0], 1, 2));
  EXPECT_TRUE(engine.run(kOne).finished());
  EXPECT_EQ(engine.run(kOne).counts().done, 3U);
}

TEST(EngineRuns, ABatchToldTwiceAddsItsTasksOnce) {
  Engine engine;
  engine.add_run(kOne, {}, {});
  for (int i = 0; i < 2; ++i)
    engine.apply(TasksAdded{kOne, {NodeId(0), 0, TaskId(1), 2}, {}, at(0)});
  EXPECT_EQ(engine.run(kOne).counts().total, 2U);
}

TEST(EngineRuns, EventsOfUnknownRunsChangeNothing) {
  Engine engine;
  engine.add_run(kOne, {.count = 1}, {});
  engine.apply(CancelRequested{kTwo, true, {}, at(0)});
  engine.apply(AttemptStarted{{kTwo, TaskId(1), AttemptId(1)}, HostId(1), at(0)});
  EXPECT_EQ(engine.run(kOne).counts().pending, 1U);
  engine.remove_run(kOne);
  EXPECT_FALSE(engine.has_run(kOne));
  EXPECT_THAT(engine.decide(at(1)), IsEmpty());
}

TEST(EngineRuns, AFileMadeAtASiteComesFromThere) {
  constexpr SiteId kLab{1};
  Engine engine;
  engine.apply(FileMade{FileId(5), kLab, 1e6});
  Workload reading{.count = 1};
  reading.files = [](TaskId) { return std::vector{FileId(5)}; };
  engine.add_run(kOne, reading, {});
  engine.apply(HostUp{{.id = HostId(1), .name = "far", .site = SiteId(2)}});
  const auto actions = engine.decide(at(0));
  ASSERT_THAT(actions, SizeIs(1));
  const auto& move = std::get<MoveFile>(actions[0]);
  EXPECT_EQ(move, (MoveFile{FileId(5), kLab, SiteId(2)}));
  engine.apply(FileArrived{FileId(5), SiteId(2), at(1)});
  EXPECT_THAT(starts_of(engine, 1), SizeIs(1));
}

TEST(EngineRuns, ATaskAtHomeWaitsForAFileThatIsElsewhere) {
  constexpr SiteId kLab{1};
  Engine engine;
  engine.apply(FileMade{FileId(0), kLab, 1e6});
  Workload reading{.count = 1};
  reading.files = [](TaskId) { return std::vector{FileId(0)}; };
  engine.add_run(kOne, reading, {});
  engine.apply(HostUp{{HostId(1), "here", 1, 1ULL << 30}});
  const auto actions = engine.decide(at(0));
  ASSERT_THAT(actions, SizeIs(1));
  EXPECT_EQ(std::get<MoveFile>(actions[0]), (MoveFile{FileId(0), kLab, kHome}));
  engine.apply(FileArrived{FileId(0), kHome, at(1)});
  EXPECT_THAT(starts_of(engine, 1), SizeIs(1));
}

}  // namespace
}  // namespace gantry::engine
