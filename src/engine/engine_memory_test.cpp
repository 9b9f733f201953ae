// Memory that is learnt: what tasks are given, and those that die of it.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <map>

#include "engine/engine_memory_fixture.hpp"
#include "engine/one_run.hpp"
#include "schedule/registry.hpp"

namespace gantry::engine {
namespace {

using testing::HasSubstr;

TEST(EngineMemory, BeginsWithASlotsShareOfTheSmallestHost) {
  OneRun engine(learners(10), {});
  EXPECT_EQ(given(engine, 1), 1024U) << "nothing is known of hosts";
  engine.apply(HostUp{machine(1, 4, 4000)});
  EXPECT_EQ(given(engine, 1), 1000U);
  engine.apply(HostUp{machine(2, 2, 1600)});
  EXPECT_EQ(given(engine, 1), 800U);
  engine.apply(HostDown{HostId(2)});
  EXPECT_EQ(given(engine, 1), 1000U);
  EXPECT_FALSE(engine.resources(TaskId(1)).learn_memory);

  OneRun wide(learners(10, 3), {});  // one of them fits, alone
  wide.apply(HostUp{machine(1, 4, 4000)});
  EXPECT_EQ(given(wide, 1), 4000U);
}

TEST(EngineMemory, ABatchSystemIsAskedForAGibibyteFirst) {
  OneRun engine(learners(10, 2), {});
  Host batch = machine(1, 100, 0);
  batch.memory = std::uint64_t{1} << 60U;
  engine.apply(HostUp{batch});
  EXPECT_EQ(given(engine, 1), 2048U);
}

TEST(EngineMemory, PacksByWhatWasLearnt) {
  constexpr Policy kNothingAhead{.max_fails = 1};
  OneRun fresh(learners(100), kNothingAhead);
  fresh.apply(HostUp{machine(1, 4, 4000)});
  EXPECT_EQ(started(fresh).size(), 4U);

  OneRun learnt(learners(100), kNothingAhead);
  learnt.apply(HostUp{machine(1, 4, 4000)});
  let_succeed(learnt, 8, 1400);
  // 1400 and a quarter, rounded up: 2048. One fits, four would fit by cores.
  EXPECT_EQ(started(learnt).size(), 1U);
  EXPECT_EQ(given(learnt, 50), 2048U);
}

TEST(EngineMemory, OneThatDiesIsTriedAgainWithTwiceWithoutUsingUpRetries) {
  OneRun engine(learners(1), {});
  engine.apply(HostUp{machine(1, 4, 4000)});
  auto starts = started(engine);
  ASSERT_EQ(starts.size(), 1U);
  engine.apply(end_of(starts[0], FailureCause::out_of_memory, 1010, 1000 * kMebi));
  EXPECT_EQ(engine.state(TaskId(1)), TaskState::pending);
  EXPECT_EQ(given(engine, 1), 2048U);  // 2020, rounded up
  EXPECT_EQ(engine.after_memory(TaskId(1)), "tried again with 2 GiB");
  starts = started(engine);
  ASSERT_EQ(starts.size(), 1U);
  engine.apply(end_of(starts[0], FailureCause::none, 1500));
  EXPECT_EQ(engine.state(TaskId(1)), TaskState::done);
  EXPECT_TRUE(engine.finished());
}

TEST(EngineMemory, OfTwoAttemptsTheLastThatDiesIsTriedAgain) {
  OneRun engine(learners(1), {});
  engine.apply(HostUp{machine(1, 4, 4000)});
  engine.apply(HostUp{machine(2, 4, 4000)});
  const auto starts = started(engine);
  ASSERT_EQ(starts.size(), 1U);
  const HostId other(starts[0].host == HostId(1) ? 2 : 1);
  engine.apply(AttemptStarted{{RunId(1), TaskId(1), AttemptId(2)}, other, at(2)});
  engine.apply(end_of(starts[0], FailureCause::out_of_memory, 1010, 1000 * kMebi));
  EXPECT_EQ(engine.after_memory(TaskId(1)), "its other attempt goes on");
  EXPECT_TRUE(started(engine).empty());
  engine.apply(end_of({.key = {RunId(1), TaskId(1), AttemptId(2)}, .host = other},
                      FailureCause::out_of_memory, 1010, 1000 * kMebi));
  EXPECT_EQ(engine.after_memory(TaskId(1)), "tried again with 2 GiB");
  EXPECT_EQ(started(engine).size(), 1U);
}

TEST(EngineMemory, OneThatDiesOfTheKernelGetsMoreThanItHad) {
  OneRun engine(learners(1), {});
  engine.apply(HostUp{machine(1, 4, 4000)});
  const auto starts = started(engine);
  engine.apply(end_of(starts.at(0), FailureCause::out_of_memory, 100, 1000 * kMebi));
  EXPECT_EQ(given(engine, 1), 2048U);
}

TEST(EngineMemory, FailsWhenTheLargestHostIsNotEnough) {
  Workload one = learners(1);
  one.retry.retries = 5;  // of no use
  OneRun engine(one, {});
  engine.apply(HostUp{machine(1, 4, 3000)});
  engine.apply(HostUp{machine(2, 2, 4000)});
  std::vector<std::uint64_t> tried;
  for (auto starts = started(engine); !starts.empty(); starts = started(engine)) {
    tried.push_back(given(engine, 1));
    ASSERT_LT(tried.size(), 10U);
    engine.apply(
        end_of(starts[0], FailureCause::out_of_memory, tried.back() + 1, tried.back() * kMebi));
  }
  EXPECT_THAT(tried, testing::ElementsAre(750, 1723, 4000));
  EXPECT_EQ(engine.state(TaskId(1)), TaskState::failed);
  EXPECT_THAT(engine.after_memory(TaskId(1)),
              HasSubstr("more than the 3.906 GiB of the largest host, h2"));
  EXPECT_TRUE(engine.finished());
}

TEST(EngineMemory, ANeedBeyondEveryHostRunsAloneOnTheLargest) {
  OneRun engine(learners(20), {});
  engine.apply(HostUp{machine(1, 4, 4000)});
  let_succeed(engine, 8, 3900);
  (void)started(engine);
  EXPECT_EQ(given(engine, 20), 4000U);
  // Learnt on a host that has gone: those that are left do what they can.
  engine.apply(HostUp{machine(2, 4, 1000)});
  engine.apply(HostDown{HostId(1)});
  const auto starts = started(engine);
  ASSERT_FALSE(starts.empty());
  EXPECT_EQ(starts[0].host, HostId(2));
  EXPECT_EQ(given(engine, 20), 1000U);
}

TEST(EngineMemory, WhatABatchSystemRefusesIsNotAskedForAgain) {
  OneRun engine(learners(1), {.hosts_may_come = true});
  Host batch = machine(1, 10, 0);
  batch.memory = std::uint64_t{1} << 60U;
  engine.apply(HostUp{batch});
  std::uint64_t node = 3500;
  int asked = 0;
  while (engine.state(TaskId(1)) != TaskState::failed && asked < 20) {
    const auto starts = started(engine);
    ASSERT_EQ(starts.size(), 1U) << asked;
    ++asked;
    const std::uint64_t wants = given(engine, 1);
    if (wants > node) {
      batch.refusals.push_back({1, wants * kMebi, "no such node"});
      engine.apply(AttemptReturned{{RunId(1), TaskId(1), starts[0].key.attempt}, HostId(1)});
      engine.apply(HostUp{batch});
    } else {
      engine.apply(end_of(starts[0], FailureCause::out_of_memory, wants + 1, wants * kMebi));
    }
  }
  EXPECT_EQ(engine.state(TaskId(1)), TaskState::failed);
  EXPECT_LT(asked, 8);
}

TEST(EngineMemory, ABatchSystemThatRefusesEverythingIsNotAskedForLittleAndLess) {
  OneRun engine(learners(1), {.hosts_may_come = true});
  Host batch = machine(1, 10, 0);
  batch.memory = std::uint64_t{1} << 60U;
  engine.apply(HostUp{batch});
  int asked = 0;
  for (auto starts = started(engine); !starts.empty(); starts = started(engine)) {
    ASSERT_LT(++asked, 25);
    EXPECT_GE(given(engine, 1), 64U);
    batch.refusals.push_back({1, given(engine, 1) * kMebi, "no such account"});
    engine.apply(AttemptReturned{{RunId(1), TaskId(1), starts[0].key.attempt}, HostId(1)});
    engine.apply(HostUp{batch});
  }
  EXPECT_EQ(engine.stranded().size(), 1U);
}

TEST(EngineMemory, AHostThatSaysLittleOfItsLimitsDoesNotMakeATaskRunForEver) {
  OneRun engine(learners(1), {});
  engine.apply(HostUp{machine(1, 4, 4000)});
  int tried = 0;
  for (auto starts = started(engine); !starts.empty(); starts = started(engine)) {
    ASSERT_LT(++tried, 8);
    engine.apply(end_of(starts[0], FailureCause::out_of_memory, 1, kMebi));
  }
  EXPECT_EQ(engine.state(TaskId(1)), TaskState::failed);
}

TEST(EngineMemory, NobodyIsTurnedAwayForWhatWasNotLearntYet) {
  OneRun engine(learners(3, 16), {.hosts_may_come = true});
  engine.apply(HostUp{machine(1, 2, 4000)});
  EXPECT_TRUE(started(engine).empty());
  ASSERT_EQ(engine.stranded().size(), 1U);
  EXPECT_EQ(engine.stranded()[0].cores, 16U);
  EXPECT_EQ(engine.stranded()[0].memory, 0U);
}

TEST(EngineMemory, DeclaredMemoryIsThePersonsLimit) {
  Workload declared = learners(2);
  declared.resources = [](TaskId) { return Resources{.memory = 100 * kMebi}; };
  OneRun engine(declared, {});
  engine.apply(HostUp{machine(1, 4, 4000)});
  const auto starts = started(engine);
  engine.apply(end_of(starts.at(0), FailureCause::out_of_memory, 101, 100 * kMebi));
  EXPECT_EQ(engine.state(TaskId(1)), TaskState::failed);
  EXPECT_EQ(given(engine, 1), 100U);
  EXPECT_EQ(engine.after_memory(TaskId(1)), "");
}

TEST(EngineMemory, GoesOnWithMoreAfterARestart) {
  OneRun engine(learners(20), {});
  for (std::uint32_t i = 3; i <= 12; ++i)
    engine.apply(end_of({{RunId(1), TaskId(i), AttemptId(1)}, HostId(1)}, FailureCause::none, 200));
  engine.apply(end_of({{RunId(1), TaskId(1), AttemptId(1)}, HostId(1)}, FailureCause::out_of_memory,
                      260, 256 * kMebi));
  engine.apply(end_of({{RunId(1), TaskId(2), AttemptId(1)}, HostId(1)}, FailureCause::out_of_memory,
                      260, 256 * kMebi));
  engine.apply(end_of({{RunId(1), TaskId(2), AttemptId(2)}, HostId(1)}, FailureCause::none, 400));
  EXPECT_EQ(engine.state(TaskId(1)), TaskState::failed);
  engine.resume();
  EXPECT_EQ(engine.state(TaskId(1)), TaskState::pending);
  engine.apply(HostUp{machine(1, 4, 4000)});
  const auto starts = started(engine);
  ASSERT_FALSE(starts.empty());
  EXPECT_EQ(starts[0].key.attempt, AttemptId(2));
  EXPECT_GE(given(engine, 1), 520U);
  EXPECT_LT(given(engine, 20), 1000U) << "a slot's share";
  EXPECT_GE(given(engine, 20), 250U) << "learnt from what earlier sessions saw";
}

TEST(EngineMemory, ACancelledOneIsNotTriedAgain) {
  OneRun engine(learners(1), {});
  engine.apply(HostUp{machine(1, 4, 4000)});
  const auto starts = started(engine);
  engine.apply(CancelRequested{RunId(1), false, {TaskId(1)}, at(0)});
  engine.apply(end_of(starts.at(0), FailureCause::out_of_memory, 1010, 1000 * kMebi));
  EXPECT_EQ(engine.state(TaskId(1)), TaskState::failed);
}

/// Tasks need what they need, hosts come and go: the run ends, and who could run has run.
void run_to_the_end(std::string_view strategy) {
  const auto needs = *rc::gen::container<std::vector<std::uint32_t>>(
      *rc::gen::inRange<std::size_t>(1, 40), rc::gen::inRange<std::uint32_t>(1, 9000));
  const auto sizes = *rc::gen::container<std::vector<std::uint32_t>>(
      *rc::gen::inRange<std::size_t>(1, 4), rc::gen::inRange<std::uint32_t>(100, 8000));
  const auto flaps = *rc::gen::container<std::vector<std::uint32_t>>(
      *rc::gen::inRange<std::size_t>(0, 10), rc::gen::inRange<std::uint32_t>(0, 1000));
  OneRun engine(learners(static_cast<std::uint32_t>(needs.size())), {.keep_going = true},
                schedule::make_scheduler(strategy).value());
  std::uint32_t largest = 0;
  std::vector<Host> hosts;
  for (std::uint32_t i = 0; i < sizes.size(); ++i) {
    hosts.push_back(machine(i + 1, 1 + sizes[i] % 5, sizes[i]));
    largest = std::max(largest, sizes[i]);
    engine.apply(HostUp{hosts.back()});
  }
  std::size_t flap = 0;
  TimePoint now = at(0);
  for (int round = 0; round < 2000 && !engine.finished(); ++round) {
    now += std::chrono::seconds(1);
    std::map<HostId, std::uint64_t> used;
    for (const Action& action : engine.decide(now)) {
      const auto* start = std::get_if<StartAttempt>(&action);
      if (start == nullptr) continue;
      const std::uint64_t limit = engine.resources(start->key.task).memory;
      const std::uint64_t need = needs[start->key.task.value() - 1];
      RC_ASSERT(limit <= hosts[start->host.value() - 1].memory);
      const bool dies = need * kMebi > limit;
      engine.apply(end_of(*start, dies ? FailureCause::out_of_memory : FailureCause::none,
                          dies ? limit / kMebi + 1 : need, limit));
    }
    if (flap < flaps.size()) {
      const Host& host = hosts[flaps[flap] % hosts.size()];
      engine.apply(flaps[flap++] % 2 == 0 ? Event(HostDown{host.id}) : Event(HostUp{host}));
    } else if (flap == flaps.size()) {
      ++flap;
      for (const Host& host : hosts) engine.apply(HostUp{host});
    }
  }
  RC_ASSERT(engine.finished());
  RC_ASSERT(engine.draining().empty());
  if (!flaps.empty()) return;
  for (std::uint32_t i = 0; i < needs.size(); ++i)
    RC_ASSERT(engine.state(TaskId(i + 1)) ==
              (needs[i] <= largest ? TaskState::done : TaskState::failed));
}

TEST(EngineMemory, TheRunAlwaysEnds) {
  EXPECT_TRUE(rc::check("with the work queue", [] { run_to_the_end("workqueue"); }));
  EXPECT_TRUE(rc::check("with a plan", [] { run_to_the_end("xsufferage"); }));
}

}  // namespace
}  // namespace gantry::engine
