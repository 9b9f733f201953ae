// Ends of small runs whose tasks differ, die, or have absurd costs.
#include <gtest/gtest.h>

#include <cerrno>
#include <cmath>
#include <deque>
#include <limits>
#include <map>
#include <set>

#include "engine/engine_fixture.hpp"
#include "engine/one_run.hpp"

namespace gantry::engine {
namespace {

/// An engine whose hosts each have one slot; attempts are told when they have ended.
struct EtaScene {
  OneRun engine;
  int now = 0;

  explicit EtaScene(Workload workload, std::uint32_t hosts = 1) : engine(std::move(workload), {}) {
    for (std::uint32_t i = 1; i <= hosts; ++i)
      engine.apply(HostUp{{.id = HostId(i), .name = "h", .cores = 1}});
  }
  /// Those that are started next.
  std::vector<StartAttempt> next() {
    std::vector<StartAttempt> starts;
    for (const Action& action : engine.decide(at(now)))
      if (const auto* start = std::get_if<StartAttempt>(&action)) starts.push_back(*start);
    return starts;
  }
  void run(const StartAttempt& start, int took, FailureCause cause = FailureCause::none,
           std::int32_t code = 1) {
    const TaskKey key = start.key;
    engine.apply(AttemptStarted{key, start.host, at(now)});
    now += took;
    AttemptEnded event;
    event.host = start.host;
    event.report.key = key;
    event.report.cause = cause;
    event.report.code = code;
    event.report.started = at(now - took);
    event.report.ended = at(now);
    engine.apply(event);
  }
  [[nodiscard]] Eta eta() const { return engine.eta(at(now)); }
  [[nodiscard]] double expected() const { return gantry::seconds(eta().expected); }
};

constexpr std::uint32_t kTriedOften = 10;

/// Until so many are done, in a second each: what becomes of each attempt before?
template <class Fate>
double eta_after(std::uint32_t done, const Fate& fate) {
  EtaScene scene({.count = 120, .retry = {.retries = kTriedOften, .max_backoff = Duration{0}}});
  std::vector<StartAttempt> starts = scene.next();
  while (scene.engine.counts().done < done && !starts.empty()) {
    const StartAttempt start = starts.front();
    starts.erase(starts.begin());
    fate(scene, start);
    for (const StartAttempt& more : scene.next()) starts.push_back(more);
    if (starts.empty()) {
      ++scene.now;
      starts = scene.next();
    }
  }
  EXPECT_EQ(scene.engine.counts().done, done);
  const Counts counts = scene.engine.counts();
  return scene.expected() / (counts.total - counts.done - counts.failed);
}

TEST(EngineEta, WhatATaskWastedIsPartOfWhatItTookAndOfNoOther) {
  // Each second task dies once, after three seconds: (1 + 3 + 1) / 2 seconds each.
  const double dying = eta_after(40, [](EtaScene& scene, const StartAttempt& start) {
    const bool dies = start.key.task.value() % 2 == 0 && start.key.attempt == AttemptId(1);
    scene.run(start, dies ? 3 : 1, dies ? FailureCause::exit_code : FailureCause::none);
  });
  EXPECT_NEAR(dying, 2.5, 0.4);
}

TEST(EngineEta, TasksThatFailForGoodDoNotMakeTheOthersLonger) {
  const auto failing = [](FailureCause cause, std::int32_t code) {
    return eta_after(10, [=](EtaScene& scene, const StartAttempt& start) {
      const bool fails = start.key.task.value() % 2 == 0;
      scene.run(start, fails ? 60 : 1, fails ? cause : FailureCause::none, code);
    });
  };
  // A minute of each that is tried eleven times, or once: the others took a second each.
  EXPECT_NEAR(failing(FailureCause::exit_code, 1), 1, 0.5);
  EXPECT_NEAR(failing(FailureCause::start_failed, ENOENT), 1, 0.5);
}

TEST(EngineEta, WhatFoundNoRoomIsNoWaste) {
  const double crowded = eta_after(20, [](EtaScene& scene, const StartAttempt& start) {
    const bool refused = start.key.attempt.value() <= 3;
    scene.run(start, refused ? 20 : 1, refused ? FailureCause::start_failed : FailureCause::none,
              EAGAIN);
  });
  EXPECT_NEAR(crowded, 1, 0.5);
}

TEST(EngineEta, OnSeveralHostsOneTaskEachTellsHowMuchTheyDiffer) {
  const auto times_as_late = [](const std::vector<int>& took) {
    EtaScene scene({.count = 24}, 4);
    const std::vector<StartAttempt> starts = scene.next();
    std::set<HostId> ended;
    for (const StartAttempt& start : starts)
      if (ended.insert(start.host).second) scene.run(start, took.at(start.host.value() - 1));
    EXPECT_EQ(ended.size(), 4U);
    scene.next();
    const Eta eta = scene.eta();
    return gantry::seconds(eta.latest) / gantry::seconds(eta.soonest);
  };
  EXPECT_GT(times_as_late({2, 20, 5, 60}), 1.5 * times_as_late({20, 20, 20, 20}));
}

/// Hosts that each do the tasks they were given one after the other, in rounds that begin at once.
struct Rounds {
  EtaScene scene;
  std::map<HostId, std::deque<StartAttempt>> given{};

  void run(const std::vector<int>& took) {
    const int began = scene.now;
    for (const StartAttempt& start : scene.next()) given[start.host].push_back(start);
    for (auto& [host, mine] : given) {
      ASSERT_FALSE(mine.empty());
      scene.now = began;
      scene.run(mine.front(), took.at(host.value() - 1));
      mine.pop_front();
    }
  }
};

TEST(EngineEta, HostsThatSeemToDifferByChanceAreAlike) {
  // Short and long by turns, each host the other way round, and the last one long here and short
  // there: the mean of each is 10 s. 84 of 100 are left for two hosts: 420 s.
  Rounds rounds{EtaScene({.count = 100}, 2)};
  for (int round = 0; round < 8; ++round)
    rounds.run(round % 2 == 0 ? std::vector{1, 19} : std::vector{19, 1});
  ASSERT_EQ(rounds.scene.engine.counts().done, 16U);
  EXPECT_NEAR(rounds.scene.expected(), 420, 60);
}

TEST(EngineEta, ASlowHostIsKnownByItsTasks) {
  // At 2 and 20 s eleven end in 20 s: the 84 that are left take 153 s, and up to three tasks of the
  // slow host more, which it was given. By the mean of all, 11 s, it would be 462 s.
  Rounds rounds{EtaScene({.count = 100}, 2)};
  for (int round = 0; round < 8; ++round) rounds.run({2, 20});
  ASSERT_EQ(rounds.scene.engine.counts().done, 16U);
  EXPECT_GT(rounds.scene.expected(), 145);
  EXPECT_LT(rounds.scene.expected(), 153 + 3 * 20);
}

TEST(EngineEta, AThousandHostsAreOneRun) {
  EtaScene scene({.count = 1100}, 1000);
  for (const StartAttempt& start : scene.next())
    if (start.key.task.value() <= 1000)
      scene.run(start, 1 + static_cast<int>(start.key.task.value() % 3));
  EXPECT_GT(scene.expected(), 0);
  EXPECT_LT(scene.expected(), scene.now) << "1000 tasks, one after the other, took that";
}

TEST(EngineEta, OfManyHostsThoseThatAreAskedAreNotAllOfAKind) {
  // Each eighth host took a second, the others a minute; one task each does not tell hosts from
  // tasks. What is left takes a minute on some host or other.
  EtaScene scene({.count = 1100}, 1000);
  std::vector<StartAttempt> starts = scene.next();
  std::set<HostId> ended;
  for (const StartAttempt& start : starts) {
    scene.now = 0;
    if (ended.insert(start.host).second) scene.run(start, start.host.value() % 8 == 1 ? 1 : 60);
  }
  scene.now = 60;
  ASSERT_EQ(ended.size(), 1000U);
  EXPECT_GT(scene.expected(), 50);
}

TEST(EngineEta, AHostThatIsGoneCountsOnlyWhileThereIsNoOther) {
  EtaScene scene({.count = 40}, 2);
  for (int round = 0; round < 3; ++round) {
    std::set<HostId> ended;
    for (const StartAttempt& start : scene.next())
      if (ended.insert(start.host).second) scene.run(start, start.host == HostId(1) ? 1 : 50);
  }
  ASSERT_GE(scene.engine.counts().done, 2U);
  scene.engine.apply(HostDown{HostId(2)});
  scene.next();
  // Some 36 tasks of a second, on the host that is left.
  EXPECT_LT(scene.expected(), 60);
  scene.engine.apply(HostDown{HostId(1)});
  EXPECT_GT(scene.expected(), 0);
}

/// One task after the other, in the order in which they are given to the only host.
void run_each(EtaScene& scene, const std::vector<int>& took) {
  std::deque<StartAttempt> given;
  for (const int time : took) {
    for (const StartAttempt& start : scene.next()) given.push_back(start);
    ASSERT_FALSE(given.empty());
    scene.run(given.front(), time);
    given.pop_front();
  }
}

TEST(EngineEta, WhatWasSeenOnAHostOfAnotherSpeedCountsByThatSpeed) {
  // Ten of 40 tasks took 10 s each on a host that is gone; the one that comes is as fast.
  EtaScene scene({.count = 40}, 0);
  scene.engine.apply(HostUp{{.id = HostId(1), .name = "h", .cores = 1, .speed = 4}});
  run_each(scene, std::vector(10, 10));
  scene.engine.apply(HostDown{HostId(1)});
  scene.engine.apply(HostUp{{.id = HostId(2), .name = "g", .cores = 1, .speed = 4}});
  EXPECT_NEAR(scene.expected(), 300, 30);
}

TEST(EngineEta, OneTaskThatTookFarLongerMayNotBeTheLast) {
  // One of 31 tasks took 100 s, the others one. That none of the 69 that are left does has a chance
  // of (30 / 31)^69 = 0.10, so that half of all ends are later than 69 s and one of them.
  EtaScene scene({.count = 100});
  std::vector<int> took(31, 1);
  took[20] = 100;
  run_each(scene, took);
  EXPECT_GT(scene.expected(), 69 + 50);
}

TEST(EngineEta, AbsurdCostsMakeNoAbsurdEnd) {
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  constexpr double kInf = std::numeric_limits<double>::infinity();
  const std::vector<std::vector<double>> all{{1e-308},      {1e300},          {1e308},
                                             {5e-324},      {1e-308, 1e300},  {1e308, 1, 1e-308},
                                             {kNaN, 1e300}, {kInf, 1e-308, 0}};
  for (std::uint32_t hosts = 1; hosts <= 2; ++hosts) {
    for (const auto& costs : all) {
      EtaScene scene(
          {.count = 60, .cost = [&](TaskId task) { return costs[task.value() % costs.size()]; }},
          hosts);
      for (int round = 0; round < 25; ++round) {
        std::set<HostId> ended;
        for (const StartAttempt& start : scene.next()) {
          if (ended.insert(start.host).second) scene.run(start, round % 3);
          const Eta eta = scene.eta();
          for (const Duration each : {eta.soonest, eta.expected, eta.latest}) {
            EXPECT_GE(each, Duration{0}) << hosts << " " << costs[0];
            EXPECT_LT(gantry::seconds(each), 1e10) << hosts << " " << costs[0];
          }
          EXPECT_LE(eta.soonest, eta.expected);
          EXPECT_LE(eta.expected, eta.latest);
        }
      }
    }
  }
}

}  // namespace
}  // namespace gantry::engine
