// Hosts that are lent for a while, and the tasks that wait for them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/engine_fixture.hpp"
#include "engine/one_run.hpp"

namespace gantry::engine {
namespace {

using std::chrono::minutes;
using testing::HasSubstr;
using testing::IsEmpty;

Host lent(std::uint32_t id, Duration lent_for, TimePoint until) {
  Host host{.id = HostId(id), .name = "h", .cores = 1};
  host.lent_for = lent_for;
  host.until = until;
  return host;
}

Workload tasks_of(std::uint32_t count, Resources resources) {
  return {.count = count, .resources = [=](TaskId) { return resources; }};
}

std::size_t count_starts(OneRun& engine, TimePoint now) {
  std::size_t count = 0;
  for (const Action& action : engine.decide(now))
    count += std::holds_alternative<StartAttempt>(action);
  return count;
}

TEST(EngineLent, WhatNoHostWasGivenWaitsForMore) {
  OneRun engine(tasks_of(5, {.cores = 2}), {});
  EXPECT_EQ(engine.waiting_cores(), 10U);
  engine.apply(HostUp{{.id = HostId(1), .name = "h", .cores = 2}});
  // One runs, one lies ready behind it.
  EXPECT_EQ(count_starts(engine, at(0)), 2U);
  EXPECT_EQ(engine.waiting_cores(), 6U);
  engine.apply(DrainRequested{RunId(1), "interrupted"});
  EXPECT_EQ(engine.waiting_cores(), 0U) << "nothing more is started";
}

TEST(EngineLent, ATaskThatCannotFinishInTimeIsNotStarted) {
  OneRun engine(tasks_of(1, {.walltime = minutes(30)}), {});
  engine.apply(HostUp{lent(1, minutes(60), at(60 * 20))});
  EXPECT_EQ(count_starts(engine, at(0)), 0U) << "20 minutes are left";
  EXPECT_EQ(engine.waiting_cores(), 1U);
  EXPECT_THAT(engine.draining(), IsEmpty());
  engine.apply(HostUp{lent(2, minutes(60), at(60 * 60))});
  const auto actions = engine.decide(at(1));
  ASSERT_EQ(actions.size(), 1U);
  EXPECT_EQ(std::get<StartAttempt>(actions[0]).host, HostId(2));
}

TEST(EngineLent, ATaskThatNoHostIsLentLongEnoughForIsToldOf) {
  OneRun engine(tasks_of(1, {.walltime = minutes(90)}), {});
  engine.apply(HostUp{lent(1, minutes(60), at(60 * 60))});
  EXPECT_THAT(engine.unplaceable(),
              HasSubstr("task 1 needs 5400 s, tasks have 3600 s at the most where it could run"));
}

}  // namespace
}  // namespace gantry::engine
