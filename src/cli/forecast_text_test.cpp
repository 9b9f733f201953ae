#include "cli/forecast_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gantry::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

constexpr TimePoint kToday = TimePoint{} + std::chrono::hours(1'000'000);

driver::LiveState known() {
  driver::LiveState state{.run = 3,
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
  state.hosts = {{.name = "ada", .site = 1}, {.name = "new", .site = 1}};
  state.hosts[0].pace_forecast = {2.5, 2.1, 3, "mean 10", 1, 2, 0, 0, 0};
  return state;
}

TEST(ForecastText, TellsWhatIsExpectedAndHowGoodThatWas) {
  EXPECT_THAT(forecast_lines(known(), true, kToday, {}),
              ElementsAre("run 3, best: 40 of 100 tasks done, ETA 5m00s (4m40s to 7m10s)",
                          "run times: 36 forecasts came due, off by 7% on average",
                          "by parameters: power, learnt from 64 tasks, error 8% of the mean's",
                          "such as task 100: 12.5 s (11.0 s to 14.0 s)",
                          "host    pace  interval          error  inside  seen  by",
                          "ada   2.50 s  2.10 s to 3.00 s  -      -          1  mean 10",
                          "link to  carries  interval          error  inside  seen  by",
                          "lab      8 MB/s   7 MB/s to 9 MB/s  6%     82%       12  median 5",
                          "2 values were not believed: far from all others"));
}

TEST(ForecastText, ARunThatIsOverHasNoEndToCome) {
  EXPECT_EQ(forecast_lines(known(), false, kToday, {})[0], "run 3, best: 40 of 100 tasks done");
  EXPECT_THAT(forecast_lines({}, true, kToday, {}), SizeIs(1));
}

TEST(ForecastText, WhatOthersWroteIsShownHarmlessly) {
  driver::LiveState state = known();
  state.hosts[0].name = "a\x1b[31m\n";
  state.hosts[0].pace_forecast.value = 1e300;
  state.model = {std::string(300, '\x1b'), 1e300, 4'000'000'000, 4'000'000'000, 1e300, 0, 1e300};
  for (const std::string& line : forecast_lines(state, true, kToday, {})) {
    EXPECT_THAT(line, testing::Not(HasSubstr("\x1b")));
    EXPECT_LE(line.size(), 80U) << line;
  }
}

}  // namespace
}  // namespace gantry::cli
