// Hosts that become loaded while tasks run there.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "engine/engine_fixture.hpp"
#include "engine/one_run.hpp"
#include "forecast/grid_forecast.hpp"
#include "schedule/registry.hpp"

namespace gantry::engine {
namespace {

using testing::IsEmpty;

/// Remembers what it was shown; hands out nothing of its own.
class Onlooker final : public schedule::Scheduler {
 public:
  Onlooker(std::unique_ptr<schedule::Scheduler> strategy, int& asked, int& upset)
      : strategy_(std::move(strategy)), asked_(asked), upset_(upset) {}
  void observe(const Event& event) override { strategy_->observe(event); }
  [[nodiscard]] schedule::Plan plan(const schedule::World& world) override {
    ++asked_;
    upset_ += world.upset ? 1 : 0;
    return strategy_->plan(world);
  }

 private:
  std::unique_ptr<schedule::Scheduler> strategy_;
  int& asked_;
  int& upset_;
};

/// Two hosts with a slot each, which have each run a task of ten seconds and run the next one.
struct LoadedScene {
  int asked = 0;
  int upset = 0;
  int now = 0;
  Policy policy;
  OneRun engine{
      {.count = 40},
      policy,
      std::make_unique<Onlooker>(schedule::make_scheduler("workqueue").value(), asked, upset)};
  std::map<HostId, std::vector<TaskKey>> given;

  explicit LoadedScene(Policy how = {}) : policy(how) {
    for (const std::uint32_t host : {1U, 2U})
      engine.apply(HostUp{{.id = HostId(host), .name = "h", .cores = 1}});
    act();
    start_next();
    now = 10;
    for (const std::uint32_t host : {1U, 2U}) end_first(HostId(host));
    act();
    start_next();
  }

  std::vector<Action> act() {
    auto actions = engine.decide(at(now));
    for (const Action& action : actions)
      if (const auto* start = std::get_if<StartAttempt>(&action))
        given[start->host].push_back(start->key);
    return actions;
  }
  void start_next() {
    for (auto& [host, keys] : given) engine.apply(AttemptStarted{keys.front(), host, at(now)});
  }
  void end_first(HostId host, int took = 10) {
    AttemptEnded event;
    event.report.key = given[host].front();
    event.report.started = at(now - took);
    event.report.ended = at(now);
    event.host = host;
    given[host].erase(given[host].begin());
    engine.apply(event);
  }
  /// Every three seconds.
  std::vector<Action> tell(double share, int times, HostId host = HostId(1)) {
    std::vector<Action> all;
    for (; times > 0; --times) {
      now += 3;
      engine.apply(HostLoaded{host, share, at(now), at(now)});
      for (const Action& action : act()) all.push_back(action);
    }
    return all;
  }
  [[nodiscard]] double expected_on(std::uint32_t host) {
    return gantry::seconds(engine.expected(TaskId(39), HostId(host)).value_or(Duration{0}));
  }
};

TEST(EngineLoad, ALoadShowsInForecastsBeforeAnyTaskHasEndedUnderIt) {
  LoadedScene scene;
  scene.tell(1, 2);
  EXPECT_NEAR(scene.expected_on(1), 10, 0.1);
  const double before = gantry::seconds(scene.engine.eta(at(scene.now)).expected);
  scene.tell(0.25, 3);
  EXPECT_NEAR(scene.expected_on(1), 40, 1);
  EXPECT_NEAR(scene.expected_on(2), 10, 0.1) << "the other host has none";
  // 36 tasks of ten seconds on two hosts took half as long as on one host and a quarter of one.
  EXPECT_GT(gantry::seconds(scene.engine.eta(at(scene.now)).expected), 1.3 * before);
  scene.tell(1, 3);
  EXPECT_NEAR(scene.expected_on(1), 10, 0.5);
}

TEST(EngineLoad, WhatRunsThereIsExpectedToTakeLonger) {
  LoadedScene scene;
  scene.tell(1, 2);
  scene.tell(0.2, 3);
  // Begun at 10 s, six of ten seconds done when the load came, at 16 s: 9 s later 4 - 9/5 s are
  // left of it, for which it needs 11 s.
  OneRun& engine = scene.engine;
  engine.apply(DrainRequested{RunId(1), {}});
  scene.act();
  for (const auto& [host, keys] : scene.given)
    for (std::size_t i = 1; i < keys.size(); ++i) engine.apply(AttemptReturned{keys[i], host});
  scene.end_first(HostId(2));  // what would be overdue there would put the end off
  EXPECT_NEAR(gantry::seconds(engine.eta(at(scene.now)).expected), 11, 1.5);
}

TEST(EngineLoad, AMuchChangedLoadMakesPlansAnewASmallOneDoesNot) {
  LoadedScene scene;
  scene.tell(0.8, 4);
  const int before = scene.asked;
  scene.tell(0.75, 4);
  EXPECT_EQ(scene.upset, 0);
  EXPECT_EQ(scene.asked, before);
  scene.tell(0.3, 3);
  EXPECT_EQ(scene.upset, 1);
  scene.tell(0.8, 5);
  EXPECT_EQ(scene.upset, 2);
}

TEST(EngineLoad, ALoadThatChangesAllTheTimeIsHeededNowAndThen) {
  LoadedScene scene;
  scene.tell(0.8, 4);
  for (int i = 0; i < 40; ++i) scene.tell(i % 4 < 2 ? 0.1 : 0.9, 1);  // two minutes
  EXPECT_GE(scene.upset, 2);
  EXPECT_LE(scene.upset, 13);
  scene.tell(0.8, 5);
  // A change within the rest is heeded after it.
  scene.tell(0.2, 3);
  scene.tell(0.8, 3);
  const int before = scene.upset;
  ASSERT_NE(scene.engine.next_wakeup(), kNever);
  EXPECT_GT(scene.engine.next_wakeup(), at(scene.now));
  scene.now += 10;
  scene.act();
  EXPECT_EQ(scene.upset, before + 1);
}

TEST(EngineLoad, WhatWaitsAtASlowHostIsAskedFor) {
  LoadedScene scene;
  scene.tell(1, 3);
  const auto actions = scene.tell(0.2, 3);
  std::vector<HostId> recalled;
  for (const Action& action : actions)
    if (const auto* recall = std::get_if<RecallQueued>(&action)) recalled.push_back(recall->host);
  EXPECT_THAT(recalled, testing::ElementsAre(HostId(1)));
  EXPECT_THAT(scene.tell(1, 5), IsEmpty()) << "not when it is faster";
}

TEST(EngineLoad, ForecastsThatStayAsTheyAreFollowNothing) {
  LoadedScene scene({.learn_for = std::chrono::seconds(20)});
  scene.engine.apply(SiteEchoed{SiteId(1), 0.1, at(scene.now)});
  scene.tell(1, 2);  // until 16 s
  EXPECT_NEAR(scene.expected_on(1), 10, 0.1);
  scene.tell(1, 3);
  scene.tell(0.1, 5);
  EXPECT_NEAR(scene.expected_on(1), 10, 0.1);
  EXPECT_EQ(scene.upset, 0);
  scene.now = 90;
  scene.end_first(HostId(1), 80);
  scene.act();
  EXPECT_NEAR(scene.expected_on(1), 10, 0.1);
  scene.engine.apply(SiteEchoed{SiteId(1), 0.5, at(scene.now)});
  EXPECT_EQ(scene.engine.seen().round_trips(SiteId(1))->observations(), 1U);
  EXPECT_EQ(scene.engine.counts().done, 3U) << "all else goes on";
}

TEST(EngineLoad, NonsenseChangesNothing) {
  LoadedScene scene;
  scene.tell(0.8, 4);
  const double before = scene.expected_on(1);
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (const double share : {kNan, kInfinity, -kInfinity, -1.0, 2.0})
    scene.engine.apply(HostLoaded{HostId(1), share, at(scene.now + 1), at(scene.now)});
  for (const TimePoint time : {at(scene.now), at(0), TimePoint::min(), TimePoint::max()})
    scene.engine.apply(HostLoaded{HostId(1), 0.1, time, at(scene.now)});
  scene.engine.apply(HostLoaded{HostId(9), 0.1, at(scene.now), at(scene.now)});
  scene.act();
  EXPECT_DOUBLE_EQ(scene.expected_on(1), before);
  EXPECT_EQ(scene.engine.seen().availability(HostId(9)), nullptr);
  EXPECT_EQ(scene.upset, 0);
}

}  // namespace
}  // namespace gantry::engine
