// Memory that earlier runs have taught, that is not learnt any more, and that turns out to be more
// than a host has which was chosen before.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/engine_files_fixture.hpp"
#include "engine/engine_memory_fixture.hpp"

namespace gantry::engine {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// Task n takes n times 100 MiB.
forecast::LearnedMemory taught(std::uint32_t count) {
  forecast::LearnedMemory memory;
  for (std::uint32_t n = 1; n <= count; ++n)
    memory.observe(forecast::Features{static_cast<double>(n)}, n * 100 * kMebi);
  return forecast::LearnedMemory::from_text(memory.to_text()).value();
}

Workload knowing(forecast::LearnedMemory known, std::uint32_t count = 40) {
  Workload workload = learners(count);
  workload.known_memory = std::move(known);
  return workload;
}

TEST(EngineKnownMemory, TheFirstTaskIsGivenWhatOthersTook) {
  OneRun engine(knowing(taught(20)), {});
  engine.apply(HostUp{machine(1, 4, 16'000)});
  EXPECT_GE(given(engine, 5), 600U);
  EXPECT_LE(given(engine, 5), 1000U);
  EXPECT_GE(given(engine, 30), 3000U) << "a value that no run has seen";
  EXPECT_EQ(engine.learned_memory().seen(), 20U);
  EXPECT_EQ(engine.learned_memory().seen_here(), 0U);
}

TEST(EngineKnownMemory, AnAttemptTellsWhatItWasGivenAndWhy) {
  const auto of = [](const StartAttempt& start) { return start.key; };
  OneRun fresh(learners(40), {});
  fresh.apply(HostUp{machine(1, 4, 4000)});
  const auto first = started(fresh).at(0);
  EXPECT_EQ(fresh.given_memory(of(first)).bytes, 1000 * kMebi);
  EXPECT_EQ(fresh.given_memory(of(first)).learnt_from, 0U);
  fresh.apply(end_of(first, FailureCause::out_of_memory, 1010, 1000 * kMebi));
  EXPECT_EQ(fresh.given_memory(of(first)).bytes, 0U) << "it has ended";
  const auto again = started(fresh).at(0);
  ASSERT_EQ(again.key.task, first.key.task);
  EXPECT_EQ(fresh.given_memory(of(again)).bytes, 2048 * kMebi);
  EXPECT_EQ(fresh.given_memory(of(again)).died_with, 1000 * kMebi);

  OneRun known(knowing(taught(20)), {});
  known.apply(HostUp{machine(1, 4, 16'000)});
  const auto start = started(known).at(0);
  EXPECT_EQ(known.given_memory(of(start)).learnt_from, 20U);
  EXPECT_EQ(known.given_memory(of(start)).bytes, known.resources(start.key.task).memory);
}

TEST(EngineKnownMemory, TooFewAreNotUsedButCounted) {
  OneRun engine(knowing(taught(5)), {});
  engine.apply(HostUp{machine(1, 4, 4000)});
  EXPECT_EQ(given(engine, 5), 1000U) << "a slot's share";
  let_succeed(engine, 3, 300);
  (void)started(engine);
  EXPECT_NE(given(engine, 4), 1000U);
}

TEST(EngineKnownMemory, WhatIsOfOtherParametersIsLeftOut) {
  forecast::LearnedMemory other;
  for (int i = 0; i < 20; ++i) other.observe(forecast::Features{1.0, 2.0}, 100 * kMebi);
  other.refresh();
  OneRun engine(knowing(other), {});
  engine.apply(HostUp{machine(1, 4, 4000)});
  EXPECT_EQ(given(engine, 1), 1000U);
  let_succeed(engine, 8, 200);
  EXPECT_EQ(engine.learned_memory().seen(), 8U);
}

TEST(EngineKnownMemory, WhereMemoryIsDeclaredNothingIsKnown) {
  Workload workload = knowing(taught(20));
  workload.learns_memory = false;
  const OneRun engine(workload, {});
  EXPECT_EQ(engine.learned_memory().seen(), 0U);
}

TEST(EngineKnownMemory, ARestartCountsTheSameTasksOnce) {
  const auto restarted = [](forecast::LearnedMemory known) {
    OneRun engine(knowing(std::move(known)), {});
    for (std::uint32_t i = 1; i <= 12; ++i)
      engine.apply(
          end_of({{RunId(1), TaskId(i), AttemptId(1)}, HostId(1)}, FailureCause::none, i * 100));
    engine.resume();
    return engine.learned_memory().seen();
  };
  EXPECT_EQ(restarted(taught(12)), 12U);
  EXPECT_EQ(restarted(taught(20)), 20U);
  EXPECT_EQ(restarted({}), 12U);
  EXPECT_EQ(restarted(taught(3)), 3U) << "what earlier runs have taught is not thrown away";
}

TEST(EngineKnownMemory, StaysAsItIsWhenLearningIsOver) {
  // let_succeed() decides at second 2: what ends after that comes too late.
  OneRun engine(learners(100), {.learn_for = std::chrono::seconds(10)});
  engine.apply(HostUp{machine(1, 4, 4000)});
  let_succeed(engine, 8, 300);
  (void)started(engine);
  const std::uint64_t learnt = given(engine, 90);
  EXPECT_LT(learnt, 1000U);
  const auto late = [&](std::uint32_t task) {
    return end_of({{RunId(1), TaskId(task), AttemptId(9)}, HostId(1)}, FailureCause::none, 900);
  };
  (void)engine.decide(at(60));
  for (std::uint32_t task = 50; task < 80; ++task) {
    engine.apply(AttemptStarted{late(task).report.key, HostId(1), at(60)});
    engine.apply(late(task));
    (void)engine.decide(at(60));
  }
  ASSERT_EQ(engine.state(TaskId(79)), TaskState::done);
  EXPECT_EQ(engine.learned_memory().seen(), 8U);
  EXPECT_EQ(given(engine, 90), learnt);
  // Who dies is given more all the same.
  engine.apply(AttemptStarted{late(85).report.key, HostId(1), at(60)});
  engine.apply(end_of({{RunId(1), TaskId(85), AttemptId(9)}, HostId(1)},
                      FailureCause::out_of_memory, learnt + 1, learnt * kMebi));
  EXPECT_GE(given(engine, 85), 2 * learnt);
}

TEST(EngineKnownMemory, AStagedTaskThatNeedsMoreThanItsHostHasGoesElsewhere) {
  Workload workload = learners(20);
  workload.file_bytes = {1e6};
  workload.files = [](TaskId task) {
    return task.value() == 1 ? std::vector<FileId>{FileId(0)} : std::vector<FileId>{};
  };
  schedule::Plan next;
  OneRun engine(std::move(workload), {}, std::make_unique<Scripted>(&next));
  Host small = machine(1, 1, 500);
  small.site = kLab;
  engine.apply(HostUp{small});
  engine.apply(HostUp{machine(2, 4, 8000)});
  next.starts = {{schedule::ClassId(1), HostId(1)}};
  EXPECT_THAT(words(engine.decide(at(1))), ElementsAre("move 0 from 0 to 1"));
  ASSERT_EQ(engine.state(TaskId(1)), TaskState::staging);
  // Others, on the large host, teach that such tasks take more than the small one has.
  for (std::uint32_t task = 2; task <= 12; ++task) {
    const AttemptEnded ended =
        end_of({{RunId(1), TaskId(task), AttemptId(1)}, HostId(2)}, FailureCause::none, 900);
    engine.apply(AttemptStarted{ended.report.key, HostId(2), at(1)});
    engine.apply(ended);
  }
  EXPECT_THAT(words(engine.decide(at(2))), IsEmpty());
  ASSERT_GT(given(engine, 1), 500U);
  engine.apply(FileArrived{FileId(0), kLab, at(3)});
  EXPECT_THAT(words(engine.decide(at(3))), IsEmpty()) << "not on host 1";
  EXPECT_EQ(engine.state(TaskId(1)), TaskState::pending);
  EXPECT_FALSE(engine.finished());
  // Its place is free, and it can be given to the other.
  EXPECT_EQ(engine.hosts()[0].load, 0U);
}

}  // namespace
}  // namespace gantry::engine
