#include "simulate/forecast_trial.hpp"

#include <gtest/gtest.h>

#include <array>

#include "simulate/grid_fixture.hpp"

namespace gantry::simulate {
namespace {

constexpr std::array kSomeShares{0.1, 0.5};

Trial even_trial(std::vector<VirtualHost> hosts) {
  Trial trial{.grid = {std::move(hosts)}, .application = {}, .interval = 500};
  trial.application.tasks.assign(100, {.cost = 10});
  return trial;
}

TEST(ForecastTrial, WhereNothingChangesForecastsComeTrue) {
  const auto found =
      forecast_trial(even_trial({host(kHome), host(kHome, 0.5)}), "workqueue", 1, kSomeShares);
  ASSERT_TRUE(found) << found.error().message;
  ASSERT_EQ(found->etas.size(), 2U);
  for (const EtaSample& eta : found->etas) {
    EXPECT_NEAR(eta.at + eta.rest, found->makespan, 1e-9);
    EXPECT_NEAR(eta.expected, eta.rest, 0.1 * eta.rest) << eta.share;
    EXPECT_LE(eta.soonest, eta.expected);
    EXPECT_GE(eta.latest, eta.expected);
  }
  ASSERT_EQ(found->run_times.size(), 100U);
  for (const AttemptSample& run : found->run_times) {
    EXPECT_TRUE(run.actual == 10 || run.actual == 20) << run.actual;
    if (run.nth == 0) continue;
    EXPECT_NEAR(run.expected, run.actual, 1e-6);
  }
}

TEST(ForecastTrial, AHostThatBecomesSlowIsBelievedSoon) {
  Trial trial = even_trial({host(kHome)});
  trial.grid.hosts[0].spec.availability = Trace::make({{0, 1}, {300, 0.1}}).value();
  const auto found = forecast_trial(trial, "workqueue", 1, kSomeShares);
  ASSERT_TRUE(found) << found.error().message;
  const auto& last = found->run_times.back();
  EXPECT_NEAR(last.actual, 100, 1e-6);
  EXPECT_NEAR(last.expected, 100, 5);
}

TEST(ForecastTrial, AnUnknownSchedulerIsAnError) {
  EXPECT_FALSE(forecast_trial(even_trial({host(kHome)}), "no such", 1, kSomeShares));
}

}  // namespace
}  // namespace gantry::simulate
