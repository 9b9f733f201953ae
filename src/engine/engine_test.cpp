#include "engine/one_run.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>

#include "engine/engine_fixture.hpp"

namespace gantry::engine {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// An engine, and short ways to tell it things.
struct Bench {
  OneRun engine;
  explicit Bench(Workload workload, Policy policy = {}) : engine(std::move(workload), policy) {}

  void host(std::uint32_t cores, std::uint64_t memory = 0, std::uint32_t id = 1) {
    engine.apply(HostUp{{HostId(id), "h", cores, memory}});
  }
  void started(std::uint32_t task, std::uint32_t attempt = 1, std::uint32_t id = 1) {
    engine.apply(AttemptStarted{{RunId(1), TaskId(task), AttemptId(attempt)}, HostId(id), at(0)});
  }
  void returned(std::uint32_t task, std::uint32_t attempt = 1, std::uint32_t id = 1) {
    engine.apply(AttemptReturned{{RunId(1), TaskId(task), AttemptId(attempt)}, HostId(id)});
  }
  void ended(std::uint32_t task, FailureCause cause = FailureCause::none, std::uint32_t attempt = 1,
             std::int32_t code = 1, std::uint32_t id = 1) {
    AttemptEnded event;
    event.host = HostId(id);
    event.report.key = {RunId(1), TaskId(task), AttemptId(attempt)};
    event.report.cause = cause;
    event.report.code = code;
    event.report.started = at(0);
    event.report.ended = at(1);
    engine.apply(event);
  }
  void cancel(std::vector<TaskId> tasks) {
    engine.apply(CancelRequested{RunId(1), false, tasks, at(0)});
  }
  void cancel_all() { engine.apply(CancelRequested{RunId(1), true, {}, at(0)}); }
  void drain() { engine.apply(DrainRequested{RunId(1), "interrupted"}); }
  TaskState state(std::uint32_t task) const { return engine.state(TaskId(task)); }

  /// decide() as text: "start 3.1@1" is attempt 1 of task 3 on host 1.
  std::vector<std::string> decide(int s = 0) {
    std::vector<std::string> lines;
    for (const Action& action : engine.decide(at(s))) lines.push_back(text(action));
    return lines;
  }
  static std::string text(const Action& action) {
    const auto name = [](const auto& a) {
      return std::to_string(a.key.task.value()) + "." + std::to_string(a.key.attempt.value()) +
             "@" + std::to_string(a.host.value());
    };
    if (const auto* start = std::get_if<StartAttempt>(&action)) return "start " + name(*start);
    if (const auto* stop = std::get_if<CancelAttempt>(&action)) return "cancel " + name(*stop);
    return "recall @" + std::to_string(std::get<RecallQueued>(action).host.value());
  }
};

TEST(Engine, StartsTasksInOrderUpToSlotsPlusQueueAhead) {
  Bench b({.count = 100});
  EXPECT_THAT(b.decide(), IsEmpty());  // no host yet
  b.host(2);
  EXPECT_THAT(b.decide(), ElementsAre("start 1.1@1", "start 2.1@1", "start 3.1@1", "start 4.1@1"));
  EXPECT_THAT(b.decide(), IsEmpty());
  b.started(1);
  EXPECT_THAT(b.decide(), IsEmpty());
  b.ended(1);  // took a second, so that the queue holds no more than one a slot
  EXPECT_THAT(b.decide(), ElementsAre("start 5.1@1"));
  EXPECT_EQ(b.engine.counts().done, 1U);
  EXPECT_EQ(b.engine.counts().handed_over, 4U);
  EXPECT_EQ(b.engine.counts().pending, 95U);
}

TEST(Engine, FinishesWhenAllIsDone) {
  Bench b({.count = 2});
  b.host(4);
  EXPECT_FALSE(b.engine.finished());
  EXPECT_EQ(b.decide().size(), 2U);
  b.started(1);
  b.ended(1);
  EXPECT_FALSE(b.engine.finished());
  b.ended(2);  // an end may come before anything was heard of the start
  EXPECT_TRUE(b.engine.finished());
  EXPECT_EQ(b.engine.draining(), "");
}

TEST(Engine, IgnoresNewsOfTasksAndAttemptsThatDoNotExist) {
  Bench b({.count = 1});
  b.host(1);
  EXPECT_EQ(b.decide().size(), 1U);
  b.ended(0);
  b.ended(2);
  b.ended(1, FailureCause::exit_code, 0);
  b.ended(1, FailureCause::exit_code, 2);
  b.ended(1, FailureCause::exit_code, 0xFFFFFFFF);
  b.started(1, 7);
  b.returned(1, 7);
  EXPECT_EQ(b.state(1), TaskState::handed_over);
  b.ended(1);
  b.ended(1, FailureCause::exit_code);  // said twice: the first counts
  EXPECT_EQ(b.state(1), TaskState::done);
}

TEST(Engine, RetriesAfterBackOffBeforeNewTasks) {
  // Waits 10 s, then 10 x 3 = 30, cut to 25.
  Bench b(
      {.count = 9,
       .retry = {.retries = 2, .backoff = seconds(10), .factor = 3, .max_backoff = seconds(25)}});
  b.host(1);
  EXPECT_THAT(b.decide(), ElementsAre("start 1.1@1", "start 2.1@1"));
  b.ended(1, FailureCause::exit_code);
  EXPECT_EQ(b.state(1), TaskState::waiting);
  EXPECT_EQ(b.engine.next_wakeup(), at(11));
  EXPECT_THAT(b.decide(10),
              ElementsAre("start 3.1@1", "start 4.1@1"));  // one more: at least two ahead
  b.ended(2);
  EXPECT_THAT(b.decide(11), ElementsAre("start 1.2@1"));
  b.ended(1, FailureCause::timeout, 2);
  EXPECT_EQ(b.engine.next_wakeup(), at(26));
  b.drain();
  EXPECT_EQ(b.engine.next_wakeup(), kNever);
}

TEST(Engine, FailsForGoodWhenRetriesAreUsedUp) {
  Bench b({.count = 1, .retry = {.retries = 1}});
  b.host(1);
  EXPECT_THAT(b.decide(), ElementsAre("start 1.1@1"));
  b.ended(1, FailureCause::signal);
  EXPECT_EQ(b.state(1), TaskState::pending);  // no back-off: at once
  EXPECT_THAT(b.decide(), ElementsAre("start 1.2@1"));
  b.ended(1, FailureCause::missing_output, 2);
  EXPECT_EQ(b.state(1), TaskState::failed);
  EXPECT_TRUE(b.engine.finished());
}

TEST(Engine, DoesNotRetryWhatCannotGetBetter) {
  Bench b({.count = 4, .retry = {.retries = 5}});
  b.host(4);
  EXPECT_EQ(b.decide().size(), 4U);
  b.ended(1, FailureCause::start_failed, 1, ENOENT);
  b.ended(2, FailureCause::start_failed, 1, EACCES);
  b.ended(3, FailureCause::missing_input);
  b.ended(4, FailureCause::start_failed, 1, ETXTBSY);
  EXPECT_EQ(b.state(1), TaskState::failed);
  EXPECT_EQ(b.state(2), TaskState::failed);
  EXPECT_EQ(b.state(3), TaskState::failed);
  EXPECT_EQ(b.state(4), TaskState::pending);
}

TEST(Engine, ACrowdedMachineIsNotTheTasksFault) {
  Bench b({.count = 1});  // no retries asked for
  b.host(1);
  for (std::uint32_t attempt = 1; attempt < 100; ++attempt) {
    ASSERT_EQ(b.decide(static_cast<int>(3 * attempt)).size(), 1U) << attempt;
    b.ended(1, FailureCause::start_failed, attempt, EAGAIN);
    ASSERT_EQ(b.state(1), TaskState::waiting);
  }
  EXPECT_EQ(b.decide(300).size(), 1U);
  b.ended(1, FailureCause::start_failed, 100, EMFILE);
  EXPECT_EQ(b.state(1), TaskState::failed);  // it will not get better
}

TEST(Engine, ReturnedAttemptsKeepTheirNumberFree) {
  Bench b({.count = 3});
  b.host(1);
  EXPECT_THAT(b.decide(), ElementsAre("start 1.1@1", "start 2.1@1"));
  b.returned(2);
  EXPECT_EQ(b.state(2), TaskState::pending);
  EXPECT_THAT(b.decide(), ElementsAre("start 2.1@1"));
  b.started(1);
  b.returned(1);  // it runs: too late to come back
  EXPECT_EQ(b.state(1), TaskState::running);
}

TEST(Engine, LostAttemptsRunAgainWithoutUsingRetries) {
  Bench b({.count = 1});
  b.host(1);
  for (std::uint32_t attempt = 1; attempt <= 9; ++attempt) {
    EXPECT_EQ(b.decide().size(), 1U);
    b.ended(1, FailureCause::lost, attempt);
    EXPECT_EQ(b.state(1), TaskState::pending);
  }
  EXPECT_THAT(b.decide(), ElementsAre("start 1.10@1"));
  b.ended(1, FailureCause::lost, 10);  // ten in a row: it is the task that kills its host
  EXPECT_EQ(b.state(1), TaskState::failed);
}

TEST(Engine, AVanishedHostsTasksGoElsewhere) {
  Bench b({.count = 2});
  b.host(1);
  EXPECT_THAT(b.decide(), ElementsAre("start 1.1@1", "start 2.1@1"));
  b.started(1);
  b.engine.apply(HostDown{HostId(1)});
  EXPECT_THAT(b.decide(), IsEmpty());
  EXPECT_FALSE(b.engine.finished());
  b.host(4, 0, 2);
  EXPECT_THAT(b.decide(), ElementsAre("start 1.2@2", "start 2.2@2"));
  b.ended(1, FailureCause::none, 1);  // a late report of the first attempt: its twin is not needed
  EXPECT_EQ(b.state(1), TaskState::done);
  EXPECT_THAT(b.decide(), ElementsAre("cancel 1.2@2"));
  b.ended(2, FailureCause::exit_code, 1);  // a late failure decides nothing
  EXPECT_EQ(b.state(2), TaskState::handed_over);
}

TEST(Engine, AHostThatDrainsFinishesWhatRunsAndGivesBackTheRest) {
  Bench b({.count = 3});
  b.host(1);
  EXPECT_THAT(b.decide(), ElementsAre("start 1.1@1", "start 2.1@1"));
  b.started(1);
  b.engine.apply(HostDraining{HostId(1)});
  EXPECT_THAT(b.decide(), ElementsAre("recall @1"));
  b.returned(2);
  EXPECT_THAT(b.decide(), IsEmpty()) << "no host takes work";
  EXPECT_EQ(b.state(1), TaskState::running);
  EXPECT_FALSE(b.engine.finished());
  EXPECT_EQ(b.engine.draining(), "") << "another may come";
  b.host(1, 0, 2);
  EXPECT_THAT(b.decide(), ElementsAre("start 2.1@2", "start 3.1@2"));
  b.ended(1);
  EXPECT_EQ(b.state(1), TaskState::done);
  EXPECT_THAT(b.decide(), IsEmpty());
  ASSERT_EQ(b.engine.hosts().size(), 2U);
  EXPECT_EQ(b.engine.hosts().back().host->id, HostId(1)) << "it is still shown, after the others";
  EXPECT_TRUE(b.engine.hosts().back().ongoing.empty());
}

TEST(Engine, ASiteIsUsedUntilWhatItRunsHasEndedOrIsDoneElsewhere) {
  Bench b({.count = 1});
  b.host(1);
  EXPECT_FALSE(b.engine.uses(kHome));
  EXPECT_EQ(b.decide().size(), 1U);
  EXPECT_TRUE(b.engine.uses(kHome));
  b.started(1);
  b.engine.apply(HostDown{HostId(1)});
  EXPECT_TRUE(b.engine.uses(kHome)) << "it may still run there, and come back";
  EXPECT_FALSE(b.engine.uses(SiteId(1)));
  b.ended(1);
  EXPECT_FALSE(b.engine.uses(kHome));
}

TEST(Engine, AHostThatDrainedTakesWorkAgainOnceItIsUpAnew) {
  Bench b({.count = 2});
  b.host(1);
  b.engine.apply(HostDraining{HostId(1)});
  EXPECT_THAT(b.decide(), IsEmpty());
  b.host(1);
  EXPECT_THAT(b.decide(), ElementsAre("start 1.1@1", "start 2.1@1"));
  b.engine.apply(HostDraining{HostId(1)});
  EXPECT_THAT(b.decide(), ElementsAre("recall @1")) << "also a second time";
}

TEST(Engine, BelievesALateReportOfAVanishedHostWhileTheTaskWaits) {
  Bench b({.count = 2});
  b.host(1);
  EXPECT_EQ(b.decide().size(), 2U);
  b.started(1);
  b.engine.apply(HostDown{HostId(1)});
  b.ended(1);
  EXPECT_EQ(b.state(1), TaskState::done);
  b.host(1);
  b.started(2);  // it came back with this one still running
  EXPECT_EQ(b.state(2), TaskState::running);
  EXPECT_THAT(b.decide(), IsEmpty());
}

TEST(Engine, CancelsWhatWaitsAtOnceAndWhatRunsByAction) {
  Bench b({.count = 5, .retry = {.retries = 3, .backoff = seconds(60)}});
  b.host(1);
  EXPECT_THAT(b.decide(), ElementsAre("start 1.1@1", "start 2.1@1"));
  b.started(1);
  b.cancel({TaskId(1), TaskId(2), TaskId(3), TaskId(5), TaskId(99)});
  EXPECT_EQ(b.state(1), TaskState::running);
  EXPECT_EQ(b.state(3), TaskState::cancelled);
  EXPECT_THAT(b.decide(), ElementsAre("cancel 1.1@1", "cancel 2.1@1"));
  b.cancel({TaskId(1)});
  EXPECT_THAT(b.decide(), IsEmpty());  // asked already
  b.ended(1, FailureCause::cancelled);
  b.returned(2);
  EXPECT_EQ(b.state(1), TaskState::cancelled);
  EXPECT_EQ(b.state(2), TaskState::cancelled);
  EXPECT_THAT(b.decide(), ElementsAre("start 4.1@1"));
  b.cancel({TaskId(4)});
  b.ended(4, FailureCause::exit_code);  // it failed before the cancellation reached it: no retry
  EXPECT_EQ(b.state(4), TaskState::failed);
  EXPECT_TRUE(b.engine.finished());
}

TEST(Engine, ACancelledRetryStaysCancelled) {
  Bench b({.count = 2, .retry = {.retries = 3, .backoff = seconds(60)}});
  b.host(2);
  EXPECT_EQ(b.decide().size(), 2U);
  b.ended(1, FailureCause::exit_code);
  EXPECT_EQ(b.state(1), TaskState::waiting);
  b.cancel({TaskId(1)});
  EXPECT_EQ(b.engine.next_wakeup(), kNever);
  EXPECT_THAT(b.decide(1000), IsEmpty());
  EXPECT_EQ(b.state(1), TaskState::cancelled);
}

TEST(Engine, LateNewsOfAStartDoesNotReviveAnAttempt) {
  Bench b({.count = 1, .retry = {.retries = 1, .backoff = seconds(60)}});
  b.host(1);
  EXPECT_EQ(b.decide().size(), 1U);
  b.ended(1, FailureCause::exit_code);
  b.started(1);
  EXPECT_EQ(b.state(1), TaskState::waiting);
  EXPECT_THAT(b.decide(100), ElementsAre("start 1.2@1"));
}

TEST(Engine, CancellingAllStartsNothingMore) {
  Bench b({.count = 1000, .retry = {.retries = 3, .backoff = seconds(60)}});
  b.host(2);
  EXPECT_EQ(b.decide().size(), 4U);
  b.ended(1, FailureCause::exit_code);
  b.cancel_all();
  EXPECT_EQ(b.state(1), TaskState::cancelled);
  EXPECT_EQ(b.engine.counts().pending, 0U);
  EXPECT_THAT(b.decide(), ElementsAre("cancel 2.1@1", "cancel 3.1@1", "cancel 4.1@1", "recall @1"));
  b.ended(2);  // was done before the cancellation reached it
  b.ended(3, FailureCause::lost);
  b.ended(4, FailureCause::cancelled);
  EXPECT_EQ(b.state(2), TaskState::done);
  EXPECT_EQ(b.state(3), TaskState::cancelled);
  EXPECT_TRUE(b.engine.finished());
  EXPECT_THAT(b.decide(1000), IsEmpty());
}

TEST(Engine, DrainingRecallsWhatHasNotStarted) {
  Bench b({.count = 9});
  b.host(2);
  EXPECT_EQ(b.decide().size(), 4U);
  b.started(1);
  b.drain();
  EXPECT_THAT(b.decide(), ElementsAre("recall @1"));
  EXPECT_THAT(b.decide(), IsEmpty());
  b.started(2);  // crossed the recall
  b.returned(3);
  b.returned(4);
  EXPECT_FALSE(b.engine.finished());
  b.ended(1);
  b.ended(2);
  EXPECT_TRUE(b.engine.finished());
  EXPECT_THAT(b.decide(), IsEmpty());
  EXPECT_EQ(b.engine.draining(), "interrupted");
  EXPECT_EQ(b.engine.counts().pending, 7U);
}

TEST(Engine, StopsWhenTheFirstTwentyAllFail) {
  for (const bool keep_going : {false, true}) {
    Bench b({.count = 30}, {.keep_going = keep_going});
    b.host(10);
    EXPECT_EQ(b.decide().size(), 20U);
    for (std::uint32_t task = 1; task <= 20; ++task) b.ended(task, FailureCause::exit_code);
    EXPECT_EQ(b.decide().empty(), !keep_going);
    EXPECT_EQ(b.engine.finished(), !keep_going);
    EXPECT_THAT(b.engine.draining(),
                HasSubstr(keep_going ? "" : "the first 20 tasks all failed; --keep-going"));
  }
}

TEST(Engine, GoesOnWhenOneSucceededEverOrNothingIsLeft) {
  Bench one({.count = 40});
  TaskReused reused;
  reused.run = RunId(1);
  reused.task = TaskId(40);
  one.engine.apply(reused);
  one.host(20);
  EXPECT_EQ(one.decide().size(), 39U);
  for (std::uint32_t task = 1; task <= 30; ++task) one.ended(task, FailureCause::exit_code);
  EXPECT_THAT(one.decide(), IsEmpty());
  EXPECT_EQ(one.engine.draining(), "");

  Bench all({.count = 20});
  all.host(10);
  EXPECT_EQ(all.decide().size(), 20U);
  for (std::uint32_t task = 1; task <= 20; ++task) all.ended(task, FailureCause::exit_code);
  EXPECT_THAT(all.decide(), IsEmpty());
  EXPECT_EQ(all.engine.draining(), "");
  EXPECT_TRUE(all.engine.finished());
}

TEST(Engine, MaxFailsCountsTasksOfThisSession) {
  Bench b({.count = 9}, {.max_fails = 2});
  b.ended(1, FailureCause::exit_code);  // replayed
  b.ended(2, FailureCause::exit_code);
  b.engine.resume();
  b.host(1);
  EXPECT_THAT(b.decide(), ElementsAre("start 1.2@1")) << "nothing ahead, which would run in vain";
  b.ended(1, FailureCause::exit_code, 2);
  EXPECT_THAT(b.decide(), ElementsAre("start 2.2@1"));
  b.ended(2, FailureCause::exit_code, 2);
  EXPECT_THAT(b.decide(), IsEmpty());
  EXPECT_EQ(b.engine.draining(), "2 tasks failed (--max-fails 2)");
}

TEST(Engine, TasksThatFitNoHostAreToldWhenNothingElseIsLeft) {
  const auto resources = [](TaskId task) {
    return Resources{.cores = task == TaskId(1) ? 64U : 1U};
  };
  const Workload workload{.count = 3, .resources = resources};
  Bench b(workload);
  b.host(2);
  EXPECT_EQ(b.engine.unplaceable(), "task 1 needs 64 cores, the largest host has 2");
  EXPECT_THAT(b.decide(), ElementsAre("start 2.1@1", "start 3.1@1"));
  b.ended(2);
  b.ended(3);
  EXPECT_THAT(b.decide(), IsEmpty());
  EXPECT_TRUE(b.engine.finished());
  EXPECT_EQ(b.engine.draining(), "task 1 needs 64 cores, the largest host has 2");
  EXPECT_EQ(b.state(1), TaskState::pending);
}

TEST(Engine, EtaIsWorkLeftOverSlots) {
  Bench b({.count = 12});
  b.host(2);
  EXPECT_EQ(b.engine.eta(at(0)).expected, Duration{0});
  EXPECT_EQ(b.decide().size(), 4U);
  b.started(1);
  b.started(2);
  b.ended(1);
  b.ended(2);
  EXPECT_EQ(b.decide().size(), 2U);
  // 10 tasks of 1 s on two slots: 5 s, and as the two that were seen do not say that no other takes
  // longer, a bit more. The same below.
  EXPECT_NEAR(gantry::seconds(b.engine.eta(at(1)).expected), 5.36, 0.01);
  b.started(3);  // at 0: by 0.5 s it has used half of its second
  EXPECT_NEAR(gantry::seconds(b.engine.eta(at(0) + milliseconds(500)).expected), 5.24, 0.01);
  b.drain();
  // Four are outstanding: 3.5 s left on two slots.
  EXPECT_NEAR(gantry::seconds(b.engine.eta(at(0) + milliseconds(500)).expected), 2.01, 0.01);
}

TEST(Engine, EtaGrowsWithTasksThatRunOverTheirForecast) {
  Bench b({.count = 2});
  b.host(1);
  EXPECT_EQ(b.decide().size(), 2U);
  b.started(1);
  b.ended(1);
  const TaskKey second{RunId(1), TaskId(2), AttemptId(1)};
  EXPECT_EQ(b.engine.expected(second), Duration{0});
  b.started(2);  // at 0, expected to take 1 s
  EXPECT_EQ(b.engine.expected(second), seconds(1));
  EXPECT_NEAR(gantry::seconds(b.engine.eta(at(0) + milliseconds(900)).expected), 0.1, 1e-6);
  // Due now: soon, but nobody knows how soon.
  EXPECT_LT(b.engine.eta(at(1)).expected, seconds(1));
  EXPECT_LT(b.engine.eta(at(1)).latest, seconds(5));
  // The later it is, the longer it will take: "any moment now" would be wrong for long.
  const Eta late = b.engine.eta(at(10));
  EXPECT_GT(late.expected, seconds(2));
  EXPECT_GT(late.latest, seconds(9));
  EXPECT_GT(b.engine.eta(at(40)).expected, 3 * late.expected);
}

TEST(Engine, EtaCountsAttemptsThatDie) {
  // Of two attempts of a second each the first dies: ten more tasks on one slot take 20 s.
  const auto eta_with = [](bool dying) {
    Bench b({.count = 20, .retry = {.retries = 5}});
    b.host(1);
    for (std::uint32_t task = 1; task <= 10; ++task) {
      b.decide();
      if (dying) {
        b.started(task);
        b.ended(task, FailureCause::exit_code);
        b.decide();
      }
      b.started(task, dying ? 2 : 1);
      b.ended(task, FailureCause::none, dying ? 2 : 1);
    }
    b.decide();
    return gantry::seconds(b.engine.eta(at(1)).expected);
  };
  EXPECT_NEAR(eta_with(false), 10, 0.05);
  EXPECT_NEAR(eta_with(true), 20, 0.1);
}

TEST(Engine, EtaWaitsForBackOffs) {
  Bench b({.count = 2, .retry = {.retries = 1, .backoff = seconds(60)}});
  b.host(2);
  EXPECT_EQ(b.decide().size(), 2U);
  b.started(1);
  b.started(2);
  b.ended(1);
  b.ended(2, FailureCause::exit_code);  // at 1, due at 61, and takes a second then
  EXPECT_NEAR(gantry::seconds(b.engine.eta(at(1)).expected), 61.0, 1e-6);
  EXPECT_NEAR(gantry::seconds(b.engine.eta(at(31)).expected), 31.0, 1e-6);
}

TEST(Engine, EtaIsNotSoonerThanTheQuickestTasksAllow) {
  Bench b({.count = 200});
  b.host(1);
  std::uint32_t task = 0;
  for (const int now : {1, 1000}) {  // its end has been put off a lot, so that nothing is sure
    for (int i = 0; i < 15; ++i) {
      b.decide(now);
      b.started(++task);
      b.ended(task);
    }
    b.decide(now);
  }
  const Eta eta = b.engine.eta(at(1000));
  EXPECT_NEAR(gantry::seconds(eta.expected), 170, 0.1);  // a second each, on one slot
  EXPECT_GT(eta.latest, seconds(500));
  EXPECT_GE(eta.soonest, seconds(166)) << "of 170, two or so may end at any moment";
}

TEST(Engine, EtaFollowsTheCostsWhateverTheyAreCountedIn) {
  // Costs 1 2 3 4; the first took 1 s, so 9 s are left on one slot, and a bit more, see above.
  for (const double unit : {1e-12, 1.0, 1e12}) {
    Bench b({.count = 4, .cost = [&](TaskId task) { return unit * task.value(); }});
    b.host(1);
    EXPECT_EQ(b.decide().size(), 2U);
    b.started(1);
    b.ended(1);
    EXPECT_NEAR(gantry::seconds(b.engine.eta(at(1)).expected), 9.66, 0.01) << unit;
  }
}

}  // namespace
}  // namespace gantry::engine
