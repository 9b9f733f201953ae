// Jobs that wait in queues of batch systems and will be hosts; what it costs to start a task.
#include <gtest/gtest.h>

#include <limits>

#include "engine/engine_fixture.hpp"
#include "engine/one_run.hpp"
#include "forecast/grid_forecast.hpp"

namespace gantry::engine {
namespace {

constexpr SiteId kCluster(1);

Host pilot(std::uint32_t number) {
  return {.id = HostId(number), .name = "p", .cores = 2, .site = kCluster};
}

/// Of ten tasks two are done, each in ten seconds, on a host that is gone at 10.
OneRun without_hosts(std::uint64_t memory = 0) {
  const auto needs = [memory](TaskId) { return Resources{.cores = 1, .memory = memory}; };
  OneRun engine({.count = 10, .resources = needs}, {});
  engine.apply(HostUp{{.id = HostId(1), .name = "h", .cores = 2, .memory = 2 * memory}});
  static_cast<void>(engine.decide(at(0)));
  for (const std::uint32_t n : {1U, 2U}) {
    AttemptEnded event;
    event.host = HostId(1);
    event.report.key = {RunId(1), TaskId(n), AttemptId(1)};
    event.report.started = at(0);
    event.report.ended = at(10);
    engine.apply(event);
  }
  engine.apply(HostDown{HostId(1)});
  return engine;
}

double eta_at(const OneRun& engine, int second) {
  return gantry::seconds(engine.eta(at(second)).expected);
}

TEST(EngineQueue, TheRestOfTheWaitIsPartOfTheEta) {
  OneRun engine = without_hosts();
  for (int i = 0; i < 20; ++i) engine.apply(QueueWaited{kCluster, 100, at(i)});
  const double without = eta_at(engine, 20);
  engine.apply(HostQueued{pilot(2), at(20)});
  engine.apply(HostQueued{pilot(3), at(50)});
  // 100 s for the first of them, then eight tasks of 10 s on four slots.
  EXPECT_NEAR(eta_at(engine, 20), 120, 2);
  EXPECT_NEAR(eta_at(engine, 80), 60, 2);
  EXPECT_LT(engine.eta(at(80)).soonest, engine.eta(at(80)).expected);
  EXPECT_GT(engine.eta(at(80)).latest, engine.eta(at(80)).expected);
  // 50 s late: as long again.
  EXPECT_NEAR(eta_at(engine, 170), 20 + 20, 2);  // the other one is only 20 s late
  engine.apply(HostQueued{pilot(3), kNever});
  EXPECT_NEAR(eta_at(engine, 170), 50 + 40, 2);  // two slots
  engine.apply(HostUp{pilot(2)});
  EXPECT_NEAR(eta_at(engine, 170), 40, 4);  // one task was seen: others may be longer
  engine.apply(HostDown{HostId(2)});
  EXPECT_EQ(eta_at(engine, 170), without);
}

TEST(EngineQueue, AJobOfUnknownMemoryIsALargeOne) {
  OneRun engine = without_hosts(std::uint64_t{1} << 30U);
  for (int i = 0; i < 20; ++i) engine.apply(QueueWaited{kCluster, 100, at(i)});
  engine.apply(HostQueued{pilot(2), at(20)});
  EXPECT_NEAR(eta_at(engine, 20), 140, 2);  // eight tasks of 10 s on two slots, not on one
}

TEST(EngineQueue, AQueueOfWhichNothingIsKnownChangesNothing) {
  OneRun engine = without_hosts();
  const Eta before = engine.eta(at(20));
  engine.apply(HostQueued{pilot(2), at(20)});
  EXPECT_EQ(engine.eta(at(20)).expected, before.expected);
  EXPECT_EQ(engine.eta(at(20)).soonest, before.soonest);
  EXPECT_EQ(engine.eta(at(20)).latest, before.latest);
}

TEST(EngineQueue, WhatCannotBeIsCountedAndNotBelieved) {
  OneRun engine = without_hosts();
  EXPECT_EQ(engine.seen().queue(kCluster), nullptr);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const double wait : {nan, -1.0, 1e300}) engine.apply(QueueWaited{kCluster, wait, at(1)});
  EXPECT_EQ(engine.seen().queue(kCluster), nullptr);
  engine.apply(QueueWaited{kCluster, 7, at(2)});
  engine.apply(QueueWaited{kCluster, 8, at(1)});  // out of order
  ASSERT_NE(engine.seen().queue(kCluster), nullptr);
  EXPECT_EQ(engine.seen().queue(kCluster)->series().quarantined(), 4U);
  EXPECT_EQ(engine.seen().queue(kCluster)->series().observations(), 1U);
}

TEST(EngineLaunch, WhatStartsCostIsLearntOfAttemptsThatWereAskedFor) {
  OneRun engine({.count = 10}, {});
  engine.apply(HostUp{{.id = HostId(1), .name = "h", .cores = 2, .site = kCluster}});
  static_cast<void>(engine.decide(at(0)));
  AttemptEnded event;
  event.host = HostId(1);
  event.report.key = {RunId(1), TaskId(1), AttemptId(1)};
  event.report.started = at(0);
  event.report.ended = at(1);
  event.besides = 0.5;
  engine.apply(event);
  EXPECT_EQ(engine.seen().launch(kCluster), 0.5);
  engine.apply(event);                // a second time
  event.report.key.task = TaskId(9);  // was not handed over
  engine.apply(event);
  event.report.key.task = TaskId(2);
  event.besides.reset();
  engine.apply(event);
  EXPECT_EQ(engine.seen().launches(kCluster)->observations(), 1U);
}

}  // namespace
}  // namespace gantry::engine
