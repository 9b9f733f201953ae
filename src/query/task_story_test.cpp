#include "query/task_story.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include "query/query_fixture.hpp"
#include "store/run_lock.hpp"

namespace gantry::query {
namespace {

class TaskStoryTest : public QueryTest {
 protected:
  TaskStoryTest() : run_(create_run(5)) {}

  TaskStory story(std::uint32_t task) {
    const StoredRun run = open_run(dir_.path(), "last").value();
    TaskFilter filter;
    filter.selector = TaskSelector::parse(std::to_string(task)).value();
    TaskStory found;
    EXPECT_TRUE(for_each_story(run, filter, {.state_dir = dir_.path(), .now = from_ns(100)},
                               [&](const TaskStory& each) {
                                 found = each;
                                 return true;
                               }));
    return found;
  }
  /// A gantry, which is this process, drives the run.
  [[nodiscard]] store::RunLock drive(store::LiveState live) {
    live.pid = ::getpid();
    write_live(live);
    update(run_, store::RunState::open, {.total = 5}, ::getpid());
    return store::RunLock::acquire(dir_.path()).value();
  }

  RunId run_;
};

TEST_F(TaskStoryTest, TellsWhatTheStoreHas) {
  end(run_, 1, 1, FailureCause::exit_code);
  end(run_, 1, 2);
  const TaskStory told = story(1);
  EXPECT_EQ(told.run, run_);
  EXPECT_EQ(told.run_name, "study");
  EXPECT_EQ(told.state, TaskState::done);
  ASSERT_TRUE(told.row);
  EXPECT_EQ(told.row->attempt, AttemptId{2});
  EXPECT_EQ(told.history.size(), 2U);
  EXPECT_FALSE(told.driven);
  EXPECT_FALSE(told.place);
  EXPECT_FALSE(told.definition) << "there was no study to make it from";
}

TEST_F(TaskStoryTest, TellsWhereTasksOfARunAreThatGoesOn) {
  end(run_, 2, 2, FailureCause::exit_code);
  const auto lock = drive(live_example(run_));
  EXPECT_TRUE(story(1).driven);
  EXPECT_EQ(story(1).state, TaskState::running);
  EXPECT_EQ(story(1).place->at.at(0).host.name, "here");
  EXPECT_EQ(story(2).state, TaskState::running) << "it has failed, and is tried again";
  EXPECT_EQ(story(3).state, TaskState::pending);
  EXPECT_EQ(story(3).place->at.at(0).stage, TaskAtHost::Stage::next);
  EXPECT_TRUE(story(5).place->slot_wait);
}

TEST_F(TaskStoryTest, WhatHasEndedIsNowhere) {
  end(run_, 1);
  end(run_, 5, 1, FailureCause::exit_code);
  const auto lock = drive(live_example(run_));
  EXPECT_FALSE(story(1).place) << "live.json is older than the store";
  EXPECT_FALSE(story(5).place);
  EXPECT_EQ(story(5).state, TaskState::failed);
}

TEST_F(TaskStoryTest, TasksOfAKilledGantryMayStillRun) {
  write_live(live_example(run_));
  EXPECT_EQ(story(2).state, TaskState::unknown);
  EXPECT_EQ(story(2).grid, "grid.yaml");
  ASSERT_TRUE(story(2).agent);
  EXPECT_EQ(story(2).agent->site, "lab");
  EXPECT_FALSE(story(2).place);
}

TEST_F(TaskStoryTest, StopsWhenNobodyWantsMore) {
  const StoredRun run = open_run(dir_.path(), "last").value();
  int told = 0;
  EXPECT_TRUE(for_each_story(run, {}, {.state_dir = dir_.path()},
                             [&](const TaskStory&) { return ++told < 2; }));
  EXPECT_EQ(told, 2);
}

TEST(NextStepTest, DependsOnTheState) {
  TaskStory story;
  EXPECT_EQ(next_step(story), NextStep::new_run);
  story.definition.emplace();
  EXPECT_EQ(next_step(story), NextStep::start);
  story.agent.emplace();
  EXPECT_EQ(next_step(story), NextStep::take_in_end);
  story.driven = true;
  EXPECT_EQ(next_step(story), NextStep::await_turn);
  story.state = TaskState::running;
  EXPECT_EQ(next_step(story), NextStep::go_on);
  story.driven = false;
  EXPECT_EQ(next_step(story), NextStep::adopt);
  story.state = TaskState::unknown;
  EXPECT_EQ(next_step(story), NextStep::ask_site);
  story.state = TaskState::cancelled;
  EXPECT_EQ(next_step(story), NextStep::try_again);
  story.state = TaskState::done;
  EXPECT_EQ(next_step(story), NextStep::keep_result);
  // No digest of its inputs: one of them changed while it ran.
  story.history.emplace_back().kind = "ended";
  story.history.back().fingerprint = {Digest{1, 1}, Digest{2, 2}, {}};
  EXPECT_EQ(next_step(story), NextStep::run_again);
}

TEST(ChangedPartsTest, NeedsTwoFingerprints) {
  const Fingerprint a{Digest{1, 1}, Digest{2, 2}, Digest{3, 3}};
  const Fingerprint b{Digest{9, 1}, Digest{2, 2}, Digest{9, 3}};
  const ChangedParts parts = changed_parts(a, b);
  EXPECT_TRUE(parts.command);
  EXPECT_FALSE(parts.environment);
  EXPECT_TRUE(parts.inputs);
  EXPECT_FALSE(changed_parts({}, a).inputs);
}

}  // namespace
}  // namespace gantry::query
