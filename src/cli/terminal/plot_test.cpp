#include "cli/terminal/plot.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "cli/terminal/display_text.hpp"

namespace gantry::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(Plot, DrawsADiagonalInAscii) {
  PlotOptions options;
  options.x_name = "n";
  options.y_name = "err";
  options.columns = 30;
  options.rows = 5;
  // Labels "0" and "4" are one wide, so 30 - 1 - 3 = 26 characters are left to draw in. Rows go
  // from 4 down to 0.
  const auto lines = plot({{0, 0}, {10, 4}}, options);
  EXPECT_THAT(lines, ElementsAre("err",                            //
                                 "4 +                         *",  //
                                 "3 +",                            //
                                 "2 +",                            //
                                 "1 +",                            //
                                 "0 +*",                           //
                                 "  +--------------------------",  //
                                 "   0            5          10",  //
                                 "               n"));
}

TEST(Plot, BrailleDotsAreFinerThanCharacters) {
  PlotOptions options;
  options.columns = 30;
  options.rows = 4;
  options.utf8 = true;
  // The corners of the area: dot 8 (lower right) and dot 1 (upper left).
  const auto lines = plot({{0, 1}, {1, 0}}, options);
  EXPECT_THAT(lines[1], HasSubstr("┤\xe2\xa0\x81"));  // U+2801
  EXPECT_THAT(lines[4], HasSubstr("\xe2\xa2\x80"));   // U+2880
}

TEST(Plot, LeavesOutWhatIsNoNumber) {
  PlotOptions options;
  options.log_y = true;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto lines = plot({{1, 1}, {2, -1}, {3, nan}, {4, 100}}, options);
  EXPECT_EQ(lines.back(), "(2 rows without a number to plot left out)");
  EXPECT_THAT(plot({{nan, 1}}, options), ElementsAre(HasSubstr("nothing to plot")));
  EXPECT_THAT(plot({}, options), ElementsAre(HasSubstr("nothing to plot")));
}

TEST(Plot, LogarithmicAxisSpacesDecadesEvenly) {
  PlotOptions options;
  options.log_y = true;
  options.rows = 5;
  const auto lines = plot({{0, 1}, {1, 100}, {2, 10000}}, options);
  EXPECT_THAT(lines[3], HasSubstr("100 +"));
  EXPECT_THAT(lines[3], HasSubstr("*"));  // 100 lies in the middle between 1 and 10,000
}

TEST(Plot, GroupsHaveMarksAndALegend) {
  PlotOptions options;
  options.groups = {"a.mdl", "b\n.mdl"};
  options.utf8 = true;
  const auto lines = plot({{0, 0, 0}, {1, 1, 1}}, options);
  EXPECT_EQ(lines.back(), "o a.mdl  x b\\n.mdl");
  EXPECT_THAT(lines[1], HasSubstr("x"));
}

TEST(Plot, CategoriesNameTheAxis) {
  PlotOptions options;
  options.x_categories = {"low", "mid", "high"};
  const auto lines = plot({{0, 1}, {1, 2}, {2, 3}}, options);
  EXPECT_THAT(lines[options.rows + 2], testing::ContainsRegex("low +mid +high$"));
}

TEST(Plot, ExtremeValuesStayInside) {
  PlotOptions options;
  const double huge = std::numeric_limits<double>::max();
  for (const auto& points : std::vector<std::vector<PlotPoint>>{{{-huge, -huge}, {huge, huge}},
                                                                {{1, 5}},
                                                                {{0, 0}},
                                                                {{huge, -huge}},
                                                                {{5e-324, 5e-324}, {0, 0}}})
    for (const auto& line : plot(points, options)) EXPECT_LE(display_width(line), 80U) << line;
}

TEST(Plot, GroupsThatMeetShareAMark) {
  PlotOptions options;
  options.groups = {"a", "b"};
  const auto lines = plot({{0, 0, 0}, {1, 1, 0}, {1, 1, 1}}, options);
  EXPECT_THAT(lines[1], HasSubstr("="));
  EXPECT_THAT(lines[options.rows], HasSubstr("o"));
  EXPECT_EQ(lines.back(), "= several in one place");
}

TEST(Plot, TicksAreRoundNumbers) {
  PlotOptions options;
  // 3.13 to 19.92 in at most four steps: 5 is the smallest of 1, 2, 5, 10 ... that does.
  const auto lines = plot({{3.13, 3.13}, {19.92, 19.92}}, options);
  std::vector<std::string> labels;
  for (const auto& line : lines)
    if (const auto at = line.find(" +"); at != std::string::npos && at > 0 && line[at - 1] != ' ')
      labels.push_back(line.substr(0, at));
  EXPECT_THAT(labels, ElementsAre("15", "10", " 5"));
  EXPECT_THAT(lines[options.rows + 2], testing::ContainsRegex("^ +5 +10 +15$"));
}

}  // namespace
}  // namespace gantry::cli
