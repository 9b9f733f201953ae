#include "simulate/erratic_runs.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace gantry::simulate {
namespace {

constexpr std::uint64_t kAnySeed = 3;

/// Of the first attempts, by task.
std::vector<Fate> first_fates(const Unforeseen& run) {
  std::vector<Fate> fates;
  for (std::uint32_t i = 1; i <= run.workload.count; ++i)
    fates.push_back(run.fate_of(TaskId(i), AttemptId(1)));
  return fates;
}

TEST(ErraticRuns, AreTheSameForASeedAndSmall) {
  for (std::uint32_t number = 0; number < 50; ++number) {
    const Unforeseen run = erratic_run(kAnySeed, ErraticKind::heavy, number);
    EXPECT_GE(run.workload.count, 12U);
    EXPECT_LE(run.workload.count, 100U);
    ASSERT_EQ(run.grid.hosts.size(), 1U);
    EXPECT_GE(run.grid.hosts[0].spec.slots, 2U);
    EXPECT_LE(run.grid.hosts[0].spec.slots, 8U);
    const auto again = first_fates(erratic_run(kAnySeed, ErraticKind::heavy, number));
    const auto fates = first_fates(run);
    ASSERT_EQ(fates.size(), again.size());
    for (std::size_t i = 0; i < fates.size(); ++i)
      EXPECT_EQ(fates[i].seconds, again[i].seconds) << number;
  }
  EXPECT_NE(erratic_run(1, ErraticKind::steady, 0).fate_of(TaskId(1), AttemptId(1)).seconds,
            erratic_run(2, ErraticKind::steady, 0).fate_of(TaskId(1), AttemptId(1)).seconds);
}

TEST(ErraticRuns, OnSeveralHostsAreTheSameTasksAndSlots) {
  const Unforeseen one = erratic_run(kAnySeed, ErraticKind::dying, 5);
  const Unforeseen several = erratic_run(kAnySeed, ErraticKind::dying, 5, ErraticHosts::several);
  EXPECT_EQ(several.grid.hosts.size(), one.grid.hosts[0].spec.slots);
  for (const VirtualHost& host : several.grid.hosts) EXPECT_EQ(host.spec.slots, 1U);
  ASSERT_EQ(several.workload.count, one.workload.count);
  const auto fates = first_fates(several);
  const auto same = first_fates(one);
  for (std::size_t i = 0; i < fates.size(); ++i) EXPECT_EQ(fates[i].seconds, same[i].seconds);
}

TEST(ErraticRuns, UnequalHostsAreUpToEightTimesSlowerThanTheySay) {
  double slowest = 1;
  double fastest = 0;
  for (std::uint32_t number = 0; number < 20; ++number) {
    const Unforeseen run =
        erratic_run(kAnySeed, ErraticKind::steady, number, ErraticHosts::unequal);
    EXPECT_EQ(run.grid.hosts.size(),
              erratic_run(kAnySeed, ErraticKind::steady, number).grid.hosts[0].spec.slots);
    for (const VirtualHost& host : run.grid.hosts) {
      EXPECT_EQ(host.spec.speed, 1) << "as it is declared";
      slowest = std::min(slowest, host.spec.availability.value(0));
      fastest = std::max(fastest, host.spec.availability.value(0));
    }
  }
  // Some 100 hosts, of which an eighth is within a factor of 1.3 of either end.
  EXPECT_GE(slowest, 1 / 8.0);
  EXPECT_LT(slowest, 1.3 / 8);
  EXPECT_LE(fastest, 1);
  EXPECT_GT(fastest, 1 / 1.3);
}

TEST(ErraticRuns, AStepPartsTheFirstFromTheLast) {
  for (std::uint32_t number = 0; number < 20; ++number) {
    const auto fates = first_fates(erratic_run(kAnySeed, ErraticKind::steps, number));
    const double ratio = fates.back().seconds / fates.front().seconds;
    // A step of 3 at the least, and tasks that differ by a tenth.
    EXPECT_GT(std::abs(std::log(ratio)), std::log(2)) << number;
    EXPECT_LT(std::abs(std::log(fates[1].seconds / fates[0].seconds)), std::log(2)) << number;
  }
}

TEST(ErraticRuns, OnlyThoseThatDieDo) {
  for (const auto name : kErraticKinds) {
    const auto kind = erratic_kind(name);
    ASSERT_TRUE(kind);
    std::ptrdiff_t dead = 0;
    for (std::uint32_t number = 0; number < 20; ++number)
      dead += std::ranges::count_if(first_fates(erratic_run(kAnySeed, *kind, number)),
                                    [](const Fate& fate) { return fate.dies; });
    EXPECT_EQ(dead > 0, kind == ErraticKind::dying) << name;
  }
  EXPECT_FALSE(erratic_kind("no such"));
}

TEST(ErraticRuns, EachHasItsEtas) {
  const std::vector shares{0.2, 0.8};
  for (const auto name : kErraticKinds) {
    const auto found =
        forecast_trial(erratic_run(kAnySeed, *erratic_kind(name), 1), "workqueue", 1, shares);
    ASSERT_TRUE(found) << name << ": " << found.error().message;
    ASSERT_EQ(found->etas.size(), 2U);
    EXPECT_GT(found->etas[0].expected, 0) << name;
    EXPECT_GT(found->etas[0].rest, found->etas[1].rest) << name;
  }
}

/// Of the ETAs of the first runs of the kind.
double inside(ErraticKind kind, ErraticHosts hosts) {
  const std::vector shares{0.2, 0.5, 0.8};
  double all = 0;
  double held = 0;
  for (std::uint32_t number = 0; number < 30; ++number) {
    const auto found =
        forecast_trial(erratic_run(kAnySeed, kind, number, hosts), "workqueue", 1, shares);
    if (!found) return 0;
    for (const EtaSample& eta : found->etas) {
      ++all;
      held += eta.soonest <= eta.rest && eta.rest <= eta.latest ? 1 : 0;
    }
  }
  return held / all;
}

TEST(ErraticRuns, EndInTheirIntervals) {
  // Four of five should; the history of ETAs alone makes it 0.68 and 0.46.
  EXPECT_GE(inside(ErraticKind::dying, ErraticHosts::one), 0.75);
  EXPECT_GE(inside(ErraticKind::heavy, ErraticHosts::one), 0.65);
}

TEST(ErraticRuns, EndInTheirIntervalsOnSeveralHosts) {
  // With the pace of each host by itself it was 0.60 and 0.54, on unequal ones 0.54 and 0.50; now
  // it is 0.91 and 0.82, 0.87 and 0.81.
  EXPECT_GE(inside(ErraticKind::dying, ErraticHosts::several), 0.75);
  EXPECT_GE(inside(ErraticKind::heavy, ErraticHosts::several), 0.65);
  EXPECT_GE(inside(ErraticKind::dying, ErraticHosts::unequal), 0.75);
  EXPECT_GE(inside(ErraticKind::heavy, ErraticHosts::unequal), 0.65);
}

TEST(ErraticRuns, AStepThatWasSeenIsBelieved) {
  // Tasks 1 to 50 take 10 ms, the others 300 ms, on two slots.
  Unforeseen run;
  run.workload.count = 100;
  run.grid.hosts = {{{.slots = 2}, kHome}};
  run.fate_of = [](TaskId task, AttemptId) { return Fate{task.value() <= 50 ? 0.01 : 0.3}; };
  const std::vector shares{0.4, 0.56, 0.8};
  const auto found = forecast_trial(run, "workqueue", 1, shares);
  ASSERT_TRUE(found) << found.error().message;
  ASSERT_EQ(found->etas.size(), 3U);
  EXPECT_LT(found->etas[0].latest, found->etas[0].rest) << "what nobody has seen is not foretold";
  for (std::size_t i = 1; i < 3; ++i) {
    const EtaSample& eta = found->etas[i];
    EXPECT_NEAR(eta.expected, eta.rest, 0.15 * eta.rest) << eta.share;
    EXPECT_LE(eta.soonest, eta.rest);
    EXPECT_GE(eta.latest, eta.rest);
  }
}

}  // namespace
}  // namespace gantry::simulate
