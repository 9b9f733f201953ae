#include "query/run_status.hpp"

#include <gtest/gtest.h>

#include "query/query_fixture.hpp"

namespace gantry::query {
namespace {

using std::chrono::seconds;

class RunStatusTest : public QueryTest {
 protected:
  static constexpr int kPid = 4711;

  RunStatusTest() : run_(create_run(10)) {}

  RunStatus status(std::optional<int> holder, TimePoint now = from_ns(9)) {
    return status_of(store_, AgentView(dir_.path()), record(run_), holder, now).value();
  }

  RunId run_;
};

TEST_F(RunStatusTest, WhoHoldsTheLockTellsWhetherARunIsDriven) {
  update(run_, store::RunState::open, {.total = 10}, kPid);
  EXPECT_EQ(status(kPid).phase, RunPhase::running);
  EXPECT_EQ(status(kPid).driver, kPid);
  EXPECT_EQ(status(0).driver, kPid) << "the holder has not said who it is yet";
  EXPECT_EQ(status(kPid + 1).phase, RunPhase::interrupted) << "another run's gantry";
  EXPECT_EQ(status(std::nullopt).phase, RunPhase::interrupted);
  EXPECT_FALSE(status(std::nullopt).driver);
  update(run_, store::RunState::finished, {.total = 10, .done = 10});
  EXPECT_EQ(status(std::nullopt).phase, RunPhase::finished);
}

TEST_F(RunStatusTest, WhatRanUnderADriverThatIsGoneDoesNotCount) {
  update(run_, store::RunState::open, {.total = 10, .done = 2, .failed = 1, .running = 3}, kPid);
  EXPECT_EQ(status(kPid).counts.running, 3U);
  EXPECT_EQ(status(kPid).pending, 4U);
  EXPECT_EQ(status(std::nullopt).counts.running, 0U);
  EXPECT_EQ(status(std::nullopt).pending, 7U);
}

TEST_F(RunStatusTest, TasksThatWereAtSitesAreUnknownAndNotPending) {
  update(run_, store::RunState::open, {.total = 10, .done = 6}, kPid);
  write_live(live_example(run_));  // of tasks 2, 3 and 4
  EXPECT_EQ(status(std::nullopt).unknown, 3U);
  EXPECT_EQ(status(std::nullopt).pending, 1U);
  EXPECT_EQ(status(std::nullopt).outlived.grid, "grid.yaml");
  EXPECT_EQ(status(kPid).unknown, 0U) << "their gantry knows where they are";
  // Never more than are left: the journal may know of ends that live.json does not.
  update(run_, store::RunState::open, {.total = 10, .done = 9}, kPid);
  EXPECT_EQ(status(std::nullopt).unknown, 1U);
  EXPECT_EQ(status(std::nullopt).pending, 0U);
}

TEST_F(RunStatusTest, TheForecastIsLessByTheTimeSince) {
  const TimePoint then = from_ns(1'000'000'000'000);
  update(run_, store::RunState::open, {.total = 10}, kPid, {seconds(60), seconds(50), seconds(80)},
         then);
  const Eta eta = status(kPid, then + seconds(55)).eta;
  EXPECT_EQ(eta.expected, Duration(seconds(5)));
  EXPECT_GT(eta.soonest, Duration{0}) << "it is overdue, and will be soon";
  EXPECT_LT(eta.soonest, Duration(seconds(1)));
  EXPECT_EQ(eta.latest, Duration(seconds(25)));
  EXPECT_EQ(status(std::nullopt, then).eta.expected, Duration{0}) << "nobody drives it";
}

}  // namespace
}  // namespace gantry::query
