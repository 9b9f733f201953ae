#include "cli/commands/forecast_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "cli/terminal/format.hpp"

namespace gantry::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

constexpr TimePoint kToday = TimePoint{} + std::chrono::hours(1'000'000);

store::LiveState known() {
  store::LiveState state{.run = 3,
                         .scheduler = "best",
                         .counts = {.total = 100, .done = 40},
                         .ends = kToday + std::chrono::seconds(300),
                         .ends_soonest = kToday + std::chrono::seconds(280),
                         .ends_latest = kToday + std::chrono::seconds(430)};
  state.run_times_scored = 36;
  state.run_times_error = 0.07;
  state.model = {"power", 0.08, 64, 100, 12.5, 11, 14};
  state.sites = {{.name = "home"}, {.name = "lab"}};
  state.sites[1].link_forecast = {8e6, 7e6, 9e6, "median 5", 12, 0, 11, 0.06, 0.82};
  state.sites[1].queue_forecast = {90, 60, 300, "last value", 3, 0, 2, 0.5, 1};
  state.sites[0].launch_forecast = {0.02, 0.01, 0.03, "mean 5", 9, 1, 8, 0.1, 0.75};
  state.hosts = {{.name = "ada", .site = 1}, {.name = "new", .site = 1}};
  state.hosts[0].pace_forecast = {2.5, 2.1, 3, "mean 10", 1, 2, 0, 0, 0};
  return state;
}

TEST(ForecastText, TellsOfProbes) {
  store::LiveState state = known();
  state.sites[1].probes = 1;
  const auto is_told = [&](const std::string& line) {
    const auto lines = forecast_lines(state, true, kToday, {});
    return std::ranges::find(lines, line) != lines.end();
  };
  EXPECT_TRUE(is_told("link to lab: probed 1 time while idle"));
  state.sites[1].probes = 2;
  state.sites[1].learnt_bandwidth = 8e6;
  EXPECT_TRUE(is_told("link to lab: probed 2 times while idle, carries " + format_bandwidth(8e6)));
}

TEST(ForecastText, TellsWhatIsExpectedAndHowGoodThatWas) {
  EXPECT_THAT(forecast_lines(known(), true, kToday, {}),
              ElementsAre("run 3, best: 40 of 100 tasks done, ETA 5m00s (4m40s to 7m10s)",
                          "run times: 36 forecasts came due, off by 7% on average",
                          "by parameters: power, from 64 tasks; error 8% of a plain mean's",
                          "such as task 100: 12.5 s (11.0 s to 14.0 s)",
                          "host    pace  interval          error  inside  seen  by",
                          "ada   2.50 s  2.10 s to 3.00 s  -      -          1  mean 10",
                          "link to  carries  interval          error  inside  seen  by",
                          "lab      8 MB/s   7 MB/s to 9 MB/s  6%     82%       12  median 5",
                          "queue of  wait   interval        error  inside  seen  by",
                          "lab       1m30s  1m00s to 5m00s  50%    100%       3  last value",
                          "start at  costs  interval        error  inside  seen  by",
                          "home      20 ms  10 ms to 30 ms  10%    75%        9  mean 5",
                          "3 values were not believed: far from all others"));
}

TEST(ForecastText, ARunThatIsOverHasNoEndToCome) {
  EXPECT_EQ(forecast_lines(known(), false, kToday, {})[0], "run 3, best: 40 of 100 tasks done");
  EXPECT_THAT(forecast_lines({}, true, kToday, {}), SizeIs(1));
}

TEST(ForecastText, SaysSoWhereParametersTellNothing) {
  store::LiveState state = known();
  state.model.family = "mean";
  const auto lines = forecast_lines(state, true, kToday, {});
  EXPECT_EQ(lines[2], "by parameters: no model yet (64 tasks seen)");
  EXPECT_THAT(lines[3], HasSubstr("pace")) << "no example";
}

TEST(ForecastText, TellsWhatMemoryIsGiven) {
  store::LiveState state = known();
  state.memory = {"linear", 0.1, 40, 1.4, 100, 512U << 20U};
  const auto lines = forecast_lines(state, true, kToday, {});
  EXPECT_EQ(lines[4], "memory: linear, learnt from 40 tasks; 1.40 times the high end is given");
  EXPECT_EQ(lines[5], "such as to task 100: 512 MiB");
}

TEST(ForecastText, TellsWhatTasksSendHome) {
  store::LiveState state = known();
  state.outputs = {"power", 0.1, 30, 0, 100, 5U << 20U, 4U << 20U, 6U << 20U};
  const auto lines = forecast_lines(state, true, kToday, {});
  EXPECT_EQ(lines[4], "outputs: power, from 30 tasks; error 10% of a plain mean's");
  EXPECT_EQ(lines[5], "such as of task 100: 5 MiB (4 MiB to 6 MiB)");
  state.outputs.family = "mean";
  EXPECT_EQ(forecast_lines(state, true, kToday, {})[4],
            "outputs: do not depend on parameters, from 30 tasks");
}

TEST(ForecastText, WhatOthersWroteIsShownHarmlessly) {
  store::LiveState state = known();
  state.hosts[0].name = "a\x1b[31m\n";
  state.hosts[0].pace_forecast.value = 1e300;
  state.scheduler = std::string(300, 'x');
  state.model = {std::string(300, '\x1b'), 1e300, 4'000'000'000, 4'000'000'000, 1e300, 0, 1e300};
  state.memory = {std::string(300, '\x1b'), 1e300, 4'000'000'000, 1e300, 4'000'000'000,
                  ~std::uint64_t{0}};
  state.outputs = state.memory;
  const auto lines = forecast_lines(state, true, kToday, {});
  for (const std::string& line : lines) {
    EXPECT_THAT(line, testing::Not(HasSubstr("\x1b")));
    EXPECT_LE(line.size(), 80U) << line;
  }
  EXPECT_THAT(lines, testing::Contains(HasSubstr("[31m"))) << "the host's name is shown";
  EXPECT_THAT(lines, testing::Contains(HasSubstr("xxxxxxxxxx"))) << "and the scheduler's";
}

}  // namespace
}  // namespace gantry::cli
