#include "schedule/queue/stragglers.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "schedule/queue/workqueue.hpp"
#include "schedule/registry.hpp"

namespace gantry::schedule {
namespace {

using std::chrono::seconds;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr SiteId kLab(1);
constexpr SiteId kFarm(2);

TimePoint at_second(int s) {
  return TimePoint{} + std::chrono::hours(1) + seconds(s);
}

/// Tasks that take 10 s as a rule, by forecasts that were off by up to a fifth.
struct Scene {
  struct Machine {
    Host host;
    std::vector<Ongoing> given{};
  };
  std::vector<Machine> machines;
  std::deque<std::uint64_t> ready{};
  std::map<SiteId, TimePoint> on_time{};
  forecast::RunTimeForecast run_times{};
  forecast::RunTimeAccuracy accuracy{};
  forecast::GridForecast seen{};
  TaskNeeds needs{};
  SiteMap map{};
  std::vector<double> file_bytes{};
  int now = 100;

  explicit Scene(std::vector<Machine> hosts) : machines(std::move(hosts)) {
    for (int i = 0; i < 100; ++i) {
      run_times.observe(1, seconds(10));
      accuracy.score(10, 8 + 0.04 * i);
    }
  }

  Plan plan() {
    std::vector<HostLoad> loads;
    for (const Machine& each : machines)
      loads.push_back({&each.host, each.given.size() * share(each.host, {}), each.given});
    const TaskNeeds plain;
    std::vector<ReadyClass> classes;
    if (!ready.empty()) classes.push_back({ClassId(1), &plain, &ready});
    return Stragglers(std::make_unique<Workqueue>())
        .plan({.now = at_second(now),
               .classes = classes,
               .hosts = loads,
               .run_times = run_times,
               .ready = ready.size(),
               .file_bytes = file_bytes,
               .seen = &seen,
               .map = &map,
               .needs_of = [this](TaskId) { return needs; },
               .accuracy = &accuracy,
               .on_time = &on_time});
  }
};

Scene::Machine machine(std::uint32_t id, SiteId site, std::vector<Ongoing> given = {},
                       std::uint32_t cores = 1) {
  return {{.id = HostId(id), .name = "h", .cores = cores, .site = site}, std::move(given)};
}
Ongoing under_way(std::uint32_t task, int since, int expected = 10) {
  return {TaskId(task), 1, at_second(since), AttemptId(1), false, seconds(expected)};
}
Twin twin_of(std::uint32_t task, std::uint32_t host) {
  return {TaskId(task), HostId(host)};
}

TEST(Stragglers, WhatRunsFarTooLongIsStartedElsewhereToo) {
  Scene scene({machine(1, kLab, {under_way(1, 40)}), machine(2, kLab, {under_way(2, 95)}),
               machine(3, kFarm)});
  EXPECT_THAT(scene.plan().twins, ElementsAre(twin_of(1, 3)));
}

TEST(Stragglers, NotWhatIsOnlyALittleLate) {
  Scene scene({machine(1, kLab, {under_way(1, 88)}), machine(2, kFarm)});
  const Plan plan = scene.plan();
  EXPECT_THAT(plan.twins, IsEmpty());
  EXPECT_EQ(plan.ask_again, at_second(103));  // half again as long as expected
}

TEST(Stragglers, NotAShortTaskThatIsToldOfLate) {
  Scene scene({machine(1, kLab,
                       {{TaskId(1), 1, at_second(96), AttemptId(1), false,
                         std::chrono::milliseconds(100)}}),
               machine(2, kFarm)});
  scene.run_times.observe(1, std::chrono::milliseconds(100));
  EXPECT_THAT(scene.plan().twins, IsEmpty());
  EXPECT_EQ(scene.plan().ask_again, at_second(101) + std::chrono::milliseconds(100));
}

TEST(Stragglers, NotAsLongAsTasksAreReady) {
  Scene scene({machine(1, kLab, {under_way(1, 40)}), machine(2, kFarm)});
  scene.ready = {1, 2, 3, 4, 5, 6, 7, 8};
  EXPECT_THAT(scene.plan().twins, IsEmpty());
}

TEST(Stragglers, NotWhenForecastsAreOftenThatFarOff) {
  Scene scene({machine(1, kLab, {under_way(1, 40)}), machine(2, kFarm)});
  for (int i = 0; i < 200; ++i) scene.accuracy.score(10, i % 2 == 0 ? 10 : 80);
  EXPECT_THAT(scene.plan().twins, IsEmpty());
}

TEST(Stragglers, NotWhenItsSiteIsSlowForAll) {
  Scene scene({machine(1, kLab, {under_way(1, 40)}), machine(2, kLab, {under_way(2, 41)}),
               machine(3, kFarm)});
  EXPECT_THAT(scene.plan().twins, IsEmpty());
  // Somebody else's task has ended in time there, long after these two should have.
  scene.on_time[kLab] = at_second(90);
  EXPECT_THAT(scene.plan().twins, ElementsAre(twin_of(1, 3)));
  scene.on_time[kLab] = at_second(45);
  EXPECT_THAT(scene.plan().twins, IsEmpty());
}

TEST(Stragglers, WhatALoadHoldsUpIsStartedElsewhereBeforeItIsLate) {
  // Both were to take ten seconds, and run for six: at a tenth of the speed since the second one.
  Scene scene({machine(1, kLab, {under_way(1, 94)}), machine(2, kLab, {under_way(2, 94)}),
               machine(3, kFarm)});
  for (const std::uint32_t host : {1U, 2U}) {
    scene.seen.pass(at_second(95));
    scene.seen.ran(HostId(host), 1, seconds(10), at_second(90));
    for (int time = 92; time <= 96; ++time) {
      scene.seen.pass(at_second(time));
      scene.seen.loaded(HostId(host), 1, at_second(time), at_second(time));
    }
    EXPECT_THAT(scene.plan().twins, IsEmpty());
  }
  for (int time = 97; time <= 100; ++time) {
    scene.seen.pass(at_second(time));
    scene.seen.loaded(HostId(1), 0.1, at_second(time), at_second(time));
  }
  EXPECT_THAT(scene.plan().twins, ElementsAre(twin_of(1, 3)));
}

TEST(Stragglers, NotWhereSomethingElseThanTheLoadMakesTasksSlow) {
  // Tasks that ended lately took three times as long, at full speed.
  Scene scene({machine(1, kLab, {under_way(1, 94)}), machine(2, kLab, {under_way(2, 94)}),
               machine(3, kFarm)});
  for (int time = 60; time <= 100; ++time) {
    scene.seen.pass(at_second(time));
    for (const std::uint32_t host : {1U, 2U}) {
      scene.seen.loaded(HostId(host), 1, at_second(time), at_second(time));
      scene.seen.ran(HostId(host), 1, seconds(30), at_second(time));
    }
  }
  EXPECT_THAT(scene.plan().twins, IsEmpty());
}

TEST(Stragglers, NotWhereItWouldTakeLonger) {
  Scene scene({machine(1, kLab, {under_way(1, 40)}), machine(2, kFarm)});
  scene.seen.ran(HostId(2), 1, seconds(500));
  EXPECT_THAT(scene.plan().twins, IsEmpty());
  EXPECT_EQ(scene.plan().ask_again, at_second(105));
  scene.now = 1000;
  EXPECT_THAT(scene.plan().twins, ElementsAre(twin_of(1, 2)));
}

TEST(Stragglers, TheTimeOfFilesCounts) {
  Scene scene({machine(1, kLab, {under_way(1, 40)}), machine(2, kFarm)});
  scene.needs.files = {FileId(0)};
  scene.file_bytes = {1000};
  scene.map.ways = {{.one = kHome, .other = kFarm, .bandwidth = 1}};
  EXPECT_THAT(scene.plan().twins, IsEmpty());
  scene.map.ways = {{.one = kHome, .other = kFarm, .bandwidth = 1000}};
  EXPECT_THAT(scene.plan().twins, ElementsAre(twin_of(1, 2)));
}

TEST(Stragglers, TheQuickestHostTakesTheOneThatEndsLast) {
  Scene scene({machine(1, kLab, {under_way(1, 60)}), machine(2, kLab, {under_way(2, 20)}),
               machine(3, kLab, {under_way(3, 95), under_way(4, 95), under_way(5, 95)}, 4),
               machine(6, kFarm), machine(7, kFarm)});
  scene.seen.ran(HostId(6), 1, seconds(20));
  scene.seen.ran(HostId(7), 1, seconds(5));
  EXPECT_THAT(scene.plan().twins, ElementsAre(twin_of(2, 7), twin_of(1, 3)));
}

TEST(Stragglers, OneThatHasATwinGetsNoOther) {
  Ongoing second_attempt = under_way(1, 50);
  second_attempt.attempt = AttemptId(2);
  Scene scene({machine(1, kLab, {under_way(1, 40)}), machine(2, kFarm, {second_attempt}),
               machine(3, kFarm)});
  EXPECT_THAT(scene.plan().twins, IsEmpty());
  Ongoing alone = under_way(1, 40);
  alone.alone = true;
  EXPECT_THAT(Scene({machine(1, kLab, {alone}), machine(2, kFarm)}).plan().twins, IsEmpty());
}

TEST(Stragglers, WhatNobodyForecastIsNoStraggler) {
  Scene scene({machine(1, kLab, {under_way(1, 0, 0)}), machine(2, kFarm)});
  EXPECT_THAT(scene.plan().twins, IsEmpty());
}

}  // namespace
}  // namespace gantry::schedule
