// Hosts that come while others have work, tasks that no host can run, and hosts that speak of what
// they were not given.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/engine_fixture.hpp"
#include "engine/one_run.hpp"

namespace gantry::engine {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

TaskKey first_attempt(std::uint32_t task) {
  return {RunId(1), TaskId(task), AttemptId(1)};
}

HostUp host_up(std::uint32_t id, std::uint32_t cores) {
  return {{.id = HostId(id), .name = "h", .cores = cores}};
}

AttemptEnded end_on(std::uint32_t task, std::uint32_t host) {
  AttemptEnded event;
  event.report.key = first_attempt(task);
  event.report.started = at(0);
  event.report.ended = at(1);
  event.host = HostId(host);
  return event;
}

template <class What>
std::vector<What> only(const std::vector<Action>& actions) {
  std::vector<What> out;
  for (const Action& action : actions)
    if (const auto* what = std::get_if<What>(&action)) out.push_back(*what);
  return out;
}

TEST(EngineHosts, WhatWaitsBehindATaskGoesToAHostThatComes) {
  OneRun engine({.count = 2}, {});
  engine.apply(host_up(1, 1));
  EXPECT_THAT(only<StartAttempt>(engine.decide(at(0))), SizeIs(2)) << "the second waits there";
  engine.apply(AttemptStarted{first_attempt(1), HostId(1), at(0)});
  EXPECT_THAT(engine.decide(at(0)), IsEmpty());

  engine.apply(host_up(2, 1));
  const auto recalls = only<RecallQueued>(engine.decide(at(1)));
  ASSERT_THAT(recalls, SizeIs(1));
  EXPECT_EQ(recalls[0].host, HostId(1));
  EXPECT_THAT(engine.decide(at(1)), IsEmpty()) << "it is asked once";
  engine.apply(AttemptReturned{first_attempt(2), HostId(1)});
  const auto starts = only<StartAttempt>(engine.decide(at(1)));
  ASSERT_THAT(starts, SizeIs(1));
  EXPECT_EQ(starts[0].host, HostId(2));

  engine.apply(host_up(3, 1));
  EXPECT_THAT(engine.decide(at(2)), IsEmpty()) << "nothing waits behind anything any more";
}

/// Two hosts with a slot each have two tasks each; those of host 2 are over after 6 s, and the
/// first one of host 1 is not.
struct IdleScene {
  OneRun engine{{.count = 4}, {}};

  explicit IdleScene(int each = 3) {
    engine.apply(host_up(1, 1));
    engine.apply(host_up(2, 1));
    const auto starts = only<StartAttempt>(engine.decide(at(0)));
    int now = 0;
    for (const StartAttempt& start : starts)
      if (start.host == HostId(1) && first == TaskId{}) first = start.key.task;
    engine.apply(AttemptStarted{first_attempt(first.value()), HostId(1), at(0)});
    for (const StartAttempt& start : starts) {
      if (start.host != HostId(2)) continue;
      engine.apply(AttemptStarted{first_attempt(start.key.task.value()), HostId(2), at(now)});
      AttemptEnded end = end_on(start.key.task.value(), 2);
      end.report.started = at(now);
      end.report.ended = at(now += each);
      engine.apply(end);
    }
  }
  std::vector<RecallQueued> recalls(int now) { return only<RecallQueued>(engine.decide(at(now))); }

  TaskId first{};  ///< of host 1
};

TEST(EngineHosts, WhatWaitsBehindATaskThatIsLateGoesToAHostThatIsIdle) {
  IdleScene scene;
  // Expected to take 3 s, it has run for 6: 3 more, which an idle host would not have to wait for.
  const auto recalls = scene.recalls(6);
  ASSERT_THAT(recalls, SizeIs(1));
  EXPECT_EQ(recalls[0].host, HostId(1));
}

TEST(EngineHosts, WhatIsDueSoonIsNotAskedFor) {
  IdleScene scene;
  OneRun& engine = scene.engine;
  EXPECT_THAT(scene.recalls(3), IsEmpty()) << "it is due now";
  EXPECT_EQ(engine.next_wakeup(), at(4));
  EXPECT_THAT(scene.recalls(4), IsEmpty()) << "a second late: a second more";
  EXPECT_THAT(scene.recalls(5), SizeIs(1));
}

TEST(EngineHosts, ShortTasksAreOverBeforeTheyWereElsewhere) {
  IdleScene scene(0);
  EXPECT_THAT(scene.recalls(60), IsEmpty());
}

TEST(EngineHosts, WhatWaitsAtHostsStaysThereWhileThereIsMore) {
  OneRun engine({.count = 9}, {});
  engine.apply(host_up(1, 1));
  EXPECT_THAT(only<StartAttempt>(engine.decide(at(0))), SizeIs(2));
  engine.apply(host_up(2, 1));
  EXPECT_THAT(only<RecallQueued>(engine.decide(at(0))), IsEmpty());
}

TEST(EngineHosts, AHostIsRecalledAgainWhenItWasGivenMore) {
  OneRun engine({.count = 3}, {});
  engine.apply(host_up(1, 1));
  EXPECT_THAT(engine.decide(at(0)), SizeIs(2));
  engine.apply(host_up(2, 1));
  EXPECT_THAT(engine.decide(at(0)), SizeIs(1)) << "the third starts there";
  engine.apply(host_up(3, 1));
  EXPECT_THAT(only<RecallQueued>(engine.decide(at(0))), SizeIs(1));
  engine.apply(AttemptReturned{first_attempt(2), HostId(1)});
  engine.apply(HostDown{HostId(3)});
  EXPECT_THAT(only<StartAttempt>(engine.decide(at(0))), SizeIs(1));
  engine.apply(host_up(3, 1));
  EXPECT_THAT(only<RecallQueued>(engine.decide(at(0))), SizeIs(1));
}

TEST(EngineHosts, AHostThatRestsKeepsWhatItHasUntilItLeaves) {
  OneRun engine({.count = 3}, {});
  engine.apply(host_up(1, 1));
  EXPECT_THAT(engine.decide(at(0)), SizeIs(2));
  engine.apply(HostDraining{HostId(1), WaitingTasks::stay});
  engine.apply(end_on(1, 1));
  EXPECT_THAT(engine.decide(at(0)), IsEmpty()) << "nothing more, and nothing back";
  engine.apply(HostDraining{HostId(1)});
  EXPECT_THAT(only<RecallQueued>(engine.decide(at(0))), SizeIs(1));
  engine.apply(HostDraining{HostId(1), WaitingTasks::stay});
  engine.apply(host_up(1, 1));
  EXPECT_THAT(only<StartAttempt>(engine.decide(at(0))), SizeIs(1));
}

TEST(EngineHosts, TasksThatFitNoHostWaitWhereOthersMayCome) {
  const Workload work{.count = 2, .resources = [](TaskId task) {
                        return Resources{.cores = task == TaskId(1) ? 4U : 1U};
                      }};
  OneRun engine(work, {.hosts_may_come = true});
  engine.apply(host_up(1, 2));
  EXPECT_THAT(engine.decide(at(0)), SizeIs(1));
  EXPECT_THAT(engine.stranded(), IsEmpty()) << "the second runs";
  engine.apply(end_on(2, 1));
  EXPECT_THAT(engine.decide(at(1)), IsEmpty());
  EXPECT_THAT(engine.stranded(), testing::ElementsAre(Resources{.cores = 4}));
  EXPECT_FALSE(engine.finished());
  engine.apply(host_up(2, 4));
  EXPECT_THAT(engine.stranded(), IsEmpty());
  EXPECT_THAT(engine.decide(at(2)), SizeIs(1));

  OneRun alone(work, {});
  alone.apply(host_up(1, 2));
  alone.apply(end_on(2, 1));
  EXPECT_THAT(alone.decide(at(1)), IsEmpty());
  EXPECT_THAT(alone.draining(), HasSubstr("task 1 needs 4 cores"));
  EXPECT_THAT(alone.stranded(), IsEmpty());
}

TEST(EngineHosts, ATaskThatIsFoundRunningAgainWasNotLost) {
  OneRun engine({.count = 1}, {});
  engine.apply(host_up(1, 1));
  EXPECT_THAT(only<StartAttempt>(engine.decide(at(0))), SizeIs(1));
  engine.apply(AttemptStarted{first_attempt(1), HostId(1), at(0)});
  // Ten losses in a row of what ran are one too many.
  for (int i = 0; i < 20; ++i) {
    engine.apply(HostDown{HostId(1)});
    EXPECT_EQ(engine.state(TaskId(1)), TaskState::pending) << "after " << i << " hiccups";
    engine.apply(host_up(1, 1));
    engine.apply(AttemptStarted{first_attempt(1), HostId(1), at(0)});
    EXPECT_EQ(engine.state(TaskId(1)), TaskState::running);
  }
  engine.apply(end_on(1, 1));
  EXPECT_EQ(engine.state(TaskId(1)), TaskState::done);
}

TEST(EngineHosts, OnlyTheHostThatWasGivenAnAttemptCanTellOfIt) {
  OneRun engine({.count = 1}, {});
  engine.apply(host_up(1, 1));
  engine.apply(host_up(2, 1));
  const auto starts = only<StartAttempt>(engine.decide(at(0)));
  ASSERT_THAT(starts, SizeIs(1));
  const HostId its = starts[0].host;
  const HostId other(3 - its.value());
  EXPECT_TRUE(engine.awaits(first_attempt(1), its));
  EXPECT_FALSE(engine.awaits(first_attempt(1), other));

  engine.apply(AttemptStarted{first_attempt(1), other, at(0)});
  EXPECT_EQ(engine.state(TaskId(1)), TaskState::handed_over);
  engine.apply(AttemptReturned{first_attempt(1), other});
  EXPECT_EQ(engine.state(TaskId(1)), TaskState::handed_over);
  engine.apply(end_on(1, other.value()));
  EXPECT_EQ(engine.state(TaskId(1)), TaskState::handed_over);
  engine.apply(end_on(1, its.value()));
  EXPECT_EQ(engine.state(TaskId(1)), TaskState::done);
}

}  // namespace
}  // namespace gantry::engine
