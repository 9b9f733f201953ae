// Engines that learn what tasks cost from their parameters.
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "engine/engine_fixture.hpp"
#include "engine/one_run.hpp"
#include "engine/run/ready_queue.hpp"
#include "schedule/registry.hpp"

namespace gantry::engine {
namespace {

/// Task n takes time in proportion to n².
double seconds_of(TaskId task) {
  return 0.02 * task.value() * task.value();
}

Workload squares(std::uint32_t count, bool features = true) {
  Workload workload{.count = count};
  if (features)
    workload.features = [](TaskId task) { return forecast::Features{double(task.value())}; };
  return workload;
}

/// Hosts in virtual time. Each runs what it is given in order, on its cores.
class VirtualRun {
 public:
  VirtualRun(Workload workload, const std::string& strategy, std::vector<Host> hosts)
      : engine(std::move(workload), {}, schedule::make_scheduler(strategy).value()) {
    for (const Host& host : hosts) {
      hosts_[host.id] = {host};
      engine.apply(HostUp{host});
    }
    act();
  }

  /// Until so many are done.
  void go(std::uint32_t done) {
    while (engine.counts().done < done && !ends_.empty()) {
      const auto [end, what] = *ends_.begin();
      ends_.erase(ends_.begin());
      now = end;
      AttemptEnded event;
      event.host = what.host;
      event.report.key = what.start.key;
      event.report.started = what.started;
      event.report.ended = now;
      engine.apply(event);
      ++hosts_[what.host].free;
      act();
    }
  }

  OneRun engine;
  TimePoint now = at(0);

 private:
  struct Running {
    HostId host;
    StartAttempt start;
    TimePoint started;
  };
  struct VirtualHost {
    Host host;
    std::uint32_t free = host.cores;
    std::vector<StartAttempt> queue{};
  };

  void act() {
    for (auto actions = engine.decide(now); !actions.empty(); actions = engine.decide(now))
      for (const Action& action : actions)
        if (const auto* start = std::get_if<StartAttempt>(&action))
          hosts_[start->host].queue.push_back(*start);
    for (auto& [id, host] : hosts_)
      while (host.free > 0 && !host.queue.empty()) {
        const StartAttempt start = host.queue.front();
        host.queue.erase(host.queue.begin());
        --host.free;
        // The first host is as fast as it can be, the second takes twice as long, and so on.
        const double takes = seconds_of(start.key.task) * id.value();
        ends_.emplace(now + from_seconds(takes), Running{id, start, now});
        engine.apply(AttemptStarted{start.key, id, now});
      }
  }

  std::map<HostId, VirtualHost> hosts_;
  std::multimap<TimePoint, Running> ends_;
};

std::vector<Host> hosts(std::uint32_t count, std::uint32_t cores) {
  std::vector<Host> all;
  for (std::uint32_t i = 1; i <= count; ++i) all.push_back({HostId(i), "h", cores, 1ULL << 40});
  return all;
}

double seconds_between(TimePoint a, TimePoint b) {
  return gantry::seconds(b - a);
}

TEST(EngineLearns, TheEndOfSquaresIsForeseenInTheFirstThird) {
  VirtualRun run(squares(200), "workqueue", hosts(1, 4));
  VirtualRun equal(squares(200, false), "workqueue", hosts(1, 4));
  run.go(60);
  equal.go(60);
  const Eta eta = run.engine.eta(run.now);
  const Eta naive = equal.engine.eta(equal.now);
  const TimePoint asked = run.now;
  ASSERT_EQ(asked, equal.now);
  run.go(200);
  ASSERT_TRUE(run.engine.finished());
  const double left = seconds_between(asked, run.now);
  const double off = std::abs(gantry::seconds(eta.expected) - left);
  EXPECT_LT(off, 0.2 * std::abs(gantry::seconds(naive.expected) - left));
  EXPECT_LE(gantry::seconds(eta.soonest), left);
  EXPECT_GE(gantry::seconds(eta.latest), left);
}

TEST(EngineLearns, TasksThatTakeTheSameAreAsEver) {
  const auto same = [](bool features) {
    OneRun engine(squares(100, features), {});
    engine.apply(HostUp{{HostId(1), "h", 4, 0}});
    for (std::uint32_t n = 1; n <= 40; ++n) {
      static_cast<void>(engine.decide(at(static_cast<int>(n))));
      AttemptEnded event;
      event.host = HostId(1);
      event.report.key = {RunId(1), TaskId(n), AttemptId(1)};
      event.report.started = at(static_cast<int>(n));
      event.report.ended = at(static_cast<int>(n) + 3);
      engine.apply(event);
    }
    EXPECT_FALSE(engine.learned().known());
    return engine.eta(at(43));
  };
  EXPECT_EQ(same(true).expected, same(false).expected);
  EXPECT_EQ(same(true).latest, same(false).latest);
}

TEST(EngineLearns, WhatAnEarlierRunKeptIsAnEtaFromTheFirstMoment) {
  VirtualRun first(squares(60), "workqueue", hosts(1, 2));
  first.go(60);
  Workload again = squares(100);
  again.known_times = first.engine.learned().to_keep().value();
  VirtualRun second(std::move(again), "workqueue", hosts(1, 2));
  const Eta eta = second.engine.eta(second.now);
  const TimePoint asked = second.now;
  EXPECT_NEAR(gantry::seconds(second.engine.expected(TaskId(80), HostId(1)).value()),
              seconds_of(TaskId(80)), 0.1 * seconds_of(TaskId(80)));
  second.go(100);
  const double left = seconds_between(asked, second.now);
  EXPECT_NEAR(gantry::seconds(eta.expected), left, 0.2 * left);
  EXPECT_LE(gantry::seconds(eta.soonest), left);
  EXPECT_GE(gantry::seconds(eta.latest), left);
}

TEST(EngineLearns, AStrategyThatPlansByCostGetsNewCostsAndEveryTaskRunsOnce) {
  for (const std::string strategy : {"best", "min-min", "workqueue-steal"}) {
    VirtualRun run(squares(80), strategy, hosts(3, 2));
    run.go(80);
    EXPECT_TRUE(run.engine.finished()) << strategy;
    EXPECT_EQ(run.engine.counts().done, 80U) << strategy;
    ASSERT_TRUE(run.engine.learned().known()) << strategy;
    // Host 3 takes three times what host 1 does, whatever tasks it was given.
    const auto fast = run.engine.expected(TaskId(50), HostId(1));
    const auto slow = run.engine.expected(TaskId(50), HostId(3));
    ASSERT_TRUE(fast && slow) << strategy;
    EXPECT_NEAR(gantry::seconds(*fast), seconds_of(TaskId(50)), 0.2 * seconds_of(TaskId(50)));
    EXPECT_NEAR(gantry::seconds(*slow) / gantry::seconds(*fast), 3, 0.6) << strategy;
  }
}

TEST(EngineLearns, WhatAPersonSaysOfCostsCounts) {
  Workload workload = squares(50);
  workload.cost = [](TaskId) { return 1.0; };
  VirtualRun run(std::move(workload), "workqueue", hosts(1, 2));
  run.go(50);
  EXPECT_FALSE(run.engine.learned().known());
  EXPECT_FALSE(run.engine.learned().to_keep());
}

/// Task n sends n megabytes home, or what else.
AttemptEnded sending(std::uint32_t task, std::optional<std::uint64_t> bytes) {
  AttemptEnded event;
  event.report.key = {RunId(1), TaskId(task), AttemptId(1)};
  event.report.started = at(0);
  event.report.ended = at(1);
  event.host = HostId(1);
  event.output_bytes = bytes;
  return event;
}

/// Keeps what ready tasks send, as a planner sees it.
class OutputSeer final : public schedule::Scheduler {
 public:
  explicit OutputSeer(std::map<double, std::size_t>* seen) : seen_(seen) {}
  [[nodiscard]] schedule::Appetite appetite() const override {
    return {.ready = 1000, .by_cost = true};
  }
  void observe(const Event&) override {}
  schedule::Plan plan(const schedule::World& world) override {
    seen_->clear();
    for (const auto& each : world.classes)
      (*seen_)[each.needs->output_bytes] += each.places->size();
    return {};
  }

 private:
  std::map<double, std::size_t>* seen_;
};

TEST(EngineLearnsOutputs, AndPlannersKnowThem) {
  std::map<double, std::size_t> seen;
  Workload workload = squares(100);
  workload.cost = [](TaskId) { return 1.0; };
  OneRun engine(std::move(workload), {}, std::make_unique<OutputSeer>(&seen));
  for (const Host& host : hosts(1, 2)) engine.apply(HostUp{host});
  (void)engine.decide(at(0));
  EXPECT_EQ(seen, (std::map<double, std::size_t>{{0, 100}}));
  for (std::uint32_t task = 1; task <= 20; ++task) {
    engine.apply(AttemptStarted{{RunId(1), TaskId(task), AttemptId(1)}, HostId(1), at(0)});
    engine.apply(sending(task, std::uint64_t{task} << 20U));
  }
  (void)engine.decide(at(2));
  EXPECT_FALSE(seen.contains(0));
  EXPECT_GT(seen.rbegin()->first, 50e6);
  EXPECT_LT(seen.rbegin()->first, 200e6);
  EXPECT_LT(seen.size(), 12U) << "few classes";
  const auto last = engine.expected_outputs(TaskId(100));
  ASSERT_TRUE(last);
  EXPECT_NEAR(last->value, 100.0 * (1 << 20), 5.0 * (1 << 20));
  EXPECT_EQ(engine.learned_outputs().seen_here(), 20U);
}

TEST(EngineLearnsOutputs, WhatIsKnownOrCannotBeIsNotLearnt) {
  for (const bool declared : {true, false}) {
    Workload workload = squares(40);
    if (declared) workload.output_bytes = [](TaskId) { return 5e6; };
    OneRun engine(std::move(workload), {});
    for (std::uint32_t task = 1; task <= 20; ++task) {
      engine.apply(AttemptStarted{{RunId(1), TaskId(task), AttemptId(1)}, HostId(1), at(0)});
      engine.apply(sending(task, declared ? std::optional(std::uint64_t{1} << 20U) : std::nullopt));
    }
    EXPECT_EQ(engine.learned_outputs().seen(), 0U);
    EXPECT_FALSE(engine.expected_outputs(TaskId(1)));
  }
}

TEST(EngineLearnsOutputs, BeginsWithWhatEarlierRunsTaught) {
  Workload workload = squares(40);
  for (std::uint32_t task = 1; task <= 20; ++task)
    workload.known_outputs.observe(workload.features(TaskId(task)), task * 1e6);
  const OneRun engine(std::move(workload), {});
  EXPECT_TRUE(engine.expected_outputs(TaskId(1)));
  EXPECT_EQ(engine.learned_outputs().seen_here(), 0U);
}

TEST(ReadyQueue, SortsAgainInTheSameOrder) {
  ReadyQueue queue([](const TaskNeeds&) { return true; });
  for (std::uint32_t n = 1; n <= 4; ++n) queue.push(TaskId(n), {.cost = 1}, false);
  queue.push(TaskId(9), {.cost = 2}, true);
  const auto before = queue.view()[0].id;
  const auto needs = [](TaskId task) { return TaskNeeds{.cost = task.value() < 3 ? 1.0 : 5.0}; };
  queue.sort_again(needs);
  EXPECT_EQ(queue.placeable(), 5U);
  ASSERT_EQ(queue.view().size(), 2U);
  EXPECT_EQ(queue.needs(before), nullptr);  // who has planned with the old ones notices
  EXPECT_EQ(queue.front(), TaskId(9));
  queue.remove(TaskId(4), needs(TaskId(4)));
  EXPECT_EQ(queue.take(queue.view()[0].id), TaskId(9));
  EXPECT_EQ(queue.take(queue.view()[0].id), TaskId(3));
  EXPECT_EQ(queue.take(queue.view()[0].id), TaskId(1));
}

}  // namespace
}  // namespace gantry::engine
