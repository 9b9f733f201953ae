#include "query/agent_view.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "agent/slot_log.hpp"
#include "query/query_fixture.hpp"
#include "store/run_lock.hpp"

namespace gantry::query {
namespace {

using testing::ElementsAre;

class AgentViewTest : public QueryTest {
 protected:
  AgentViewTest() : run_(create_run(5)) {}

  AgentTask::State state_of(const AgentView& view, std::uint32_t task) const {
    const AgentTask* found = view.find(run_, TaskId{task}, nullptr);
    EXPECT_NE(found, nullptr) << task;
    return found != nullptr ? found->state : AgentTask::State::ended;
  }

  RunId run_;
};

TEST_F(AgentViewTest, KnowsNothingOfAnEmptyDirectory) {
  const AgentView view(dir_.path());
  EXPECT_EQ(view.find(run_, TaskId{1}, nullptr), nullptr);
  EXPECT_EQ(view.count(store_, run_)->running, 0U);
  EXPECT_EQ(view.grid(), "");
}

TEST_F(AgentViewTest, TasksAtSitesOfAKilledGantryAreUnseen) {
  write_live(live_example(run_));
  const AgentView view(dir_.path());
  EXPECT_EQ(view.find(run_, TaskId{1}, nullptr), nullptr) << "this machine's agent would know it";
  EXPECT_EQ(state_of(view, 2), AgentTask::State::unseen);
  EXPECT_EQ(state_of(view, 3), AgentTask::State::unseen) << "it may have begun since";
  EXPECT_EQ(state_of(view, 4), AgentTask::State::unseen);
  EXPECT_EQ(view.find(run_, TaskId{2}, nullptr)->site, "lab");
  EXPECT_EQ(view.find(run_, TaskId{2}, nullptr)->host, "ada");
  const auto tally = view.count(store_, run_).value();
  EXPECT_EQ(tally.unseen, 3U);
  EXPECT_THAT(tally.sites, ElementsAre("lab"));
  EXPECT_EQ(tally.grid, "grid.yaml");
}

TEST_F(AgentViewTest, TasksAtSitesOfAGantryThatDrivesRun) {
  store::LiveState live = live_example(run_);
  live.pid = ::getpid();
  write_live(live);
  const auto lock = store::RunLock::acquire(dir_.path());
  ASSERT_TRUE(lock);
  const AgentView view(dir_.path());
  EXPECT_EQ(state_of(view, 2), AgentTask::State::running);
  EXPECT_EQ(view.find(run_, TaskId{3}, nullptr), nullptr) << "it has not begun";
  EXPECT_EQ(state_of(view, 4), AgentTask::State::running);
  EXPECT_EQ(view.grid(), "");
}

TEST_F(AgentViewTest, WhatTheStoreHasIsNoNews) {
  write_live(live_example(run_));
  end(run_, 2, 3);  // the very attempt
  end(run_, 4, 1);  // an earlier one
  const auto tally = AgentView(dir_.path()).count(store_, run_).value();
  EXPECT_EQ(tally.unseen, 2U);
}

TEST_F(AgentViewTest, EndsInTheAgentsLogsWaitToBeTakenIn) {
  agent::Ended end;
  end.key = {run_.value(), 5, 1};
  end.cause = static_cast<std::uint8_t>(FailureCause::exit_code);
  end.code = 3;
  std::string frame;
  agent::encode(frame, 1, end);
  const auto folder = dir_ / "agent";
  std::filesystem::create_directories(folder);
  auto log = agent::SlotLog::open(agent::slot_log_path(folder, 0));
  ASSERT_TRUE(log);
  log->begin_task(1, 0);
  ASSERT_TRUE(log->append(frame));
  const AgentView view(dir_.path());
  EXPECT_EQ(state_of(view, 5), AgentTask::State::ended);
  EXPECT_EQ(view.find(run_, TaskId{5}, nullptr)->report.code, 3);
  EXPECT_EQ(view.count(store_, run_)->ended, 1U);
}

}  // namespace
}  // namespace gantry::query
