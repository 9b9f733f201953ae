#include "cli/commands/result_plot.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gantry::cli {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;

store::RunRecord study() {
  store::RunRecord run;
  run.parameter_names = {"g", "n"};
  run.result_names = {"energy"};
  return run;
}

store::TaskRow row(std::string g, std::string n, std::string energy) {
  store::TaskRow row;
  row.parameters = {{"g", std::move(g)}, {"n", std::move(n)}};
  row.results = {{"energy", std::move(energy)}};
  return row;
}

std::vector<std::string> draw(const PlotData& data) {
  PlotOptions options;
  options.rows = 5;
  return data.draw(options);
}

TEST(PlotData, UnknownColumnsAreNamed) {
  const auto data = PlotData::create(study(), "n", "enrgy", "");
  ASSERT_FALSE(data);
  EXPECT_THAT(data.error().message, HasSubstr("'enrgy'"));
  EXPECT_THAT(data.error().hint, HasSubstr("energy"));
  EXPECT_FALSE(PlotData::create(study(), "n", "energy", "zzzzzzzz"));
}

TEST(PlotData, NumbersArePlottedAndGrouped) {
  auto data = PlotData::create(study(), "n", "energy", "g");
  ASSERT_TRUE(data);
  data->add(row("b", "10", "1"));
  data->add(row("a", "1", "3"));
  data->add(row("a", "2", "nothing"));
  const auto lines = draw(*data);
  EXPECT_THAT(lines[1], ContainsRegex("^ +3 \\+o$"));  // g=a: its mark at the upper left
  EXPECT_THAT(lines[lines.size() - 2], HasSubstr("o g=a  x g=b"));
  EXPECT_THAT(lines.back(), HasSubstr("1 row without a number"));
}

TEST(PlotData, NamesBecomeCategories) {
  auto data = PlotData::create(study(), "g", "energy", "");
  ASSERT_TRUE(data);
  for (const char* g : {"mid", "low", "top"}) data->add(row(g, "1", "1"));
  EXPECT_THAT(draw(*data)[7], ContainsRegex("low +mid +top"));
}

}  // namespace
}  // namespace gantry::cli
