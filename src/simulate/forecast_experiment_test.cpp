#include "simulate/forecast_experiment.hpp"

#include <gtest/gtest.h>

#include <set>

namespace gantry::simulate {
namespace {

using forecast::Battery;

std::vector<SeriesScore> scores_of(const std::vector<ForecastSeries>& series) {
  std::vector<SeriesScore> scores;
  for (const ForecastSeries& one : series) scores.push_back(score_series(one.values));
  return scores;
}

TEST(ForecastExperiment, TheSameSeedMakesTheSameSeries) {
  const auto one = generated_series(3, 2);
  const auto same = generated_series(3, 2);
  const auto other = generated_series(4, 2);
  ASSERT_EQ(one.size(), 12U);
  std::set<std::string> groups;
  for (std::size_t i = 0; i < one.size(); ++i) {
    EXPECT_EQ(one[i].values, same[i].values);
    EXPECT_NE(one[i].values, other[i].values);
    EXPECT_EQ(one[i].values.size(), 500U);
    for (const double value : one[i].values) EXPECT_TRUE(value >= 0 && value < 1e7) << value;
    groups.insert(one[i].group);
  }
  EXPECT_EQ(groups.size(), 6U);
}

// What the battery is for. A walk cannot be forecast better than by where it is.
TEST(ForecastExperiment, TheBatteryIsNearTheBestMemberAndBetterThanTheLastValue) {
  const auto series = generated_series(11, 15);
  const auto groups = group_scores(series, scores_of(series));
  ASSERT_EQ(groups.size(), 6 * kDistances);
  for (const GroupScore& group : groups) {
    EXPECT_EQ(group.series, 15U);
    EXPECT_LT(group.of_last_value, group.group == "walk" ? 1.02 : 1.0)
        << group.group << group.ahead;
    EXPECT_LT(group.above_best.back(), group.ahead == 1 ? 1.08 : 1.15)
        << group.group << group.ahead;
    EXPECT_GT(group.inside, 0.72) << group.group << group.ahead;
    EXPECT_LT(group.inside, 0.95) << group.group << group.ahead;
  }
}

TEST(ForecastExperiment, ErrorsAreMeansOverTheForecastsThatCameDue) {
  // 1 1 1 ... and then a 4: of 19 forecasts of the next value one is off by 3.
  std::vector<double> values(20, 1.0);
  values.back() = 4;
  const auto score = score_series(values);
  EXPECT_NEAR(score.distances[0].errors.front(), 3.0 / 19, 1e-12);
  EXPECT_NEAR(score.distances[0].errors.back(), 3.0 / 19, 1e-12);
  EXPECT_NEAR(score.distances[2].errors.front(), 3.0 / 4, 1e-12);
}

TEST(ForecastExperiment, SeriesThatAreTooShortOrConstantAreLeftOut) {
  std::vector<ForecastSeries> series{
      {"g", "empty", {}}, {"g", "one", {1}}, {"g", "same", std::vector<double>(40, 0.3)}};
  const auto none = group_scores(series, scores_of(series));
  ASSERT_EQ(none.size(), kDistances);
  for (const GroupScore& group : none) EXPECT_EQ(group.series, 0U) << group.ahead;
  series.push_back({"g", "usual", generated_series(3, 1).front().values});
  for (const GroupScore& group : group_scores(series, scores_of(series)))
    EXPECT_EQ(group.series, 1U) << group.ahead;
}

TEST(ForecastExperiment, TheTextTellsWhatAFileHolds) {
  const auto hosts = parse_series("# loads\na,10,20,30\nb,0,0,50\n", "loads.csv", 0).value();
  ASSERT_EQ(hosts.size(), 2U);
  EXPECT_EQ(hosts[0].group, "CPU even");
  EXPECT_EQ(hosts[1].group, "CPU odd");
  EXPECT_EQ(hosts[1].name, "b");
  EXPECT_EQ(hosts[1].values, (std::vector<double>{1, 1, 0.5}));
  const auto trace = parse_series("time,value\n0,1\n5,2\n", "dir/trace.csv", 3).value();
  EXPECT_EQ(trace[0].group, "trace odd");
  EXPECT_EQ(trace[0].name, "trace.csv");
  EXPECT_EQ(trace[0].values, (std::vector<double>{1, 2}));
  const auto log = parse_series("0.5 8\n1.5 16\n", "log", 2).value();
  EXPECT_EQ(log[0].group, "bandwidth even");
  EXPECT_EQ(log[0].values, (std::vector<double>{1e6, 2e6}));
}

TEST(ForecastExperiment, BadFilesAreNamedWithThePlace) {
  for (const std::string_view text :
       {"", "\n\n", "a,b,c\n", "0,1\n1,x\n", "1 2\n0 3\n", "nonsense", "1,2,1e999\n"}) {
    const auto read = parse_series(text, "bad", 0);
    ASSERT_FALSE(read) << text;
    EXPECT_TRUE(read.error().message.starts_with("bad:")) << read.error().message;
  }
  EXPECT_FALSE(load_series("/no/such/file", 0));
}

}  // namespace
}  // namespace gantry::simulate
