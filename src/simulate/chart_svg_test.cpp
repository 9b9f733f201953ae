#include "simulate/chart_svg.hpp"

#include <gmock/gmock.h>

#include <limits>
#include <regex>

#include "simulate/experiment_chart.hpp"

namespace gantry::simulate {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

std::ptrdiff_t count(const std::string& text, const std::string& pattern) {
  const std::regex regex(pattern);
  return std::distance(std::sregex_iterator(text.begin(), text.end(), regex), {});
}

Measure measured_at(double seconds) {
  return {seconds, seconds, seconds};
}

ExperimentPoint point(const std::string& label, double makespan) {
  return {label,
          {.schedulers = {"a", "b"}, .makespans = {{makespan, 2 * makespan}}, .bounds = {1}}};
}

TEST(ChartSvg, ABarForEachValueThatIsKnown) {
  const Chart chart{
      .title = "a < b",
      .labels = {"one", "two"},
      .panels = {
          {"",
           {{"a", {measured_at(10), measured_at(20)}},
            {"b", {measured_at(30), measured_at(std::numeric_limits<double>::quiet_NaN())}}}}}};
  const std::string svg = chart_svg(chart);
  EXPECT_EQ(count(svg, "<rect class=\"c[01]\"[^>]*><title>"), 3);
  EXPECT_THAT(svg, HasSubstr("a &lt; b"));
  EXPECT_THAT(svg, Not(HasSubstr("nan")));
}

TEST(ChartSvg, FewValuesFarOffDoNotPressTheOthersToTheGround) {
  Chart chart{.title = "t", .panels = {{"", {{"a", {}}}}}};
  for (int i = 0; i < 20; ++i) {
    chart.labels.push_back(std::to_string(i));
    chart.places.push_back(i);
    chart.panels[0].series[0].values.push_back(measured_at(i == 19 ? 1e6 : 100));
  }
  // The axis ends at 150 s, or a mark later, and not at eleven days.
  EXPECT_THAT(chart_svg(chart), HasSubstr("150 s"));
}

TEST(ChartSvg, TextKeepsItsSpaces) {
  EXPECT_THAT(chart_svg({.title = "two  spaces"}), HasSubstr("<style>text{white-space:pre}"));
}

TEST(ChartSvg, NothingToDrawIsStillAPicture) {
  EXPECT_THAT(chart_svg({.title = "t"}), HasSubstr("</svg>"));
}

TEST(ExperimentChart, APanelForEachIntervalAndAPlaceForEachError) {
  const Chart chart =
      experiment_chart("psa-qoi", {point("once p=0%", 1), point("once p=10%", 2),
                                   point("every 500 s p=0%", 3), point("every 500 s p=10%", 4)});
  ASSERT_EQ(chart.panels.size(), 2U);
  EXPECT_EQ(chart.panels[1].title, "planned every 500 s");
  EXPECT_THAT(chart.labels, ElementsAre("0%", "10%"));
  EXPECT_THAT(chart.places, ElementsAre(0, 10));
  EXPECT_EQ(chart.panels[1].series[1].values[1].value, 8);
}

TEST(ExperimentChart, FileSizesAreOnALogarithmicAxis) {
  const Chart chart = experiment_chart(
      "psa-filesize", {point("10 MB", 1), point("100 MB", 2), point("1000 MB", 3)});
  EXPECT_NEAR(chart.places[1] - chart.places[0], chart.places[2] - chart.places[1], 1e-12);
}

TEST(ExperimentPoints, DoNotDependOnTheOrderInWhichTrialsEnded) {
  const Experiment experiment{
      .name = "e", .points = {"p", "q"}, .repetitions = 2, .schedulers = {"a"}, .trial = {}};
  const TrialOutcome first{.repetition = 0, .data_bound = 1, .makespans = {2}};
  const TrialOutcome second{.repetition = 1, .data_bound = 3, .makespans = {4}};
  const TrialOutcome beyond{.repetition = 2, .data_bound = 5, .makespans = {6}};
  const auto points = experiment_points(experiment, {beyond, second, first});
  EXPECT_THAT(points[0].table.makespans, ElementsAre(ElementsAre(2), ElementsAre(4)));
  EXPECT_THAT(points[0].table.bounds, ElementsAre(1, 3));
  EXPECT_TRUE(points[1].table.makespans.empty());
}

}  // namespace
}  // namespace gantry::simulate
