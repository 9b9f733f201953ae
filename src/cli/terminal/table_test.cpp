#include "cli/terminal/table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/terminal/display_text.hpp"

namespace gantry::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Lines = std::vector<std::string>;

Lines render(std::vector<Column> columns, TableStyle style,
             const std::vector<std::vector<Cell>>& rows) {
  Lines lines;
  Table table(std::move(columns), style, [&](std::string_view line) { lines.emplace_back(line); });
  for (const auto& row : rows) table.add(row);
  table.finish();
  return lines;
}

TEST(Table, AlignsTextLeftAndNumbersRight) {
  EXPECT_THAT(render({{"task"}, {"state"}, {"x"}}, {},
                     {{{"1"}, {"done"}, {"0.5"}}, {{"200"}, {"failed"}, {"-"}}}),
              ElementsAre("task  state     x",  //
                          "   1  done    0.5",  //
                          " 200  failed    -"));
}

TEST(Table, AlignsByDisplayWidthAndEscapesControls) {
  EXPECT_THAT(render({{"name"}, {"v"}}, {}, {{{"日本"}, {"a\nb"}}, {{"Ö"}, {"\x1b[2J"}}}),
              ElementsAre("name  v",      //
                          "日本  a\\nb",  //
                          "Ö     \\x1b[2J"));
}

TEST(Table, CutsTheWidestColumnFirst) {
  const auto lines =
      render({{"task"}, {"text"}}, {20, true, false}, {{{"1"}, {std::string(100, 'x')}}});
  EXPECT_THAT(lines, ElementsAre("task  text", "   1  xxxxxxxxxxxxx…"));
}

TEST(Table, LeavesColumnsOutAndSaysSo) {
  std::vector<Column> columns{{"task", false, false}};
  std::vector<Cell> row{{"1"}};
  for (int i = 0; i < 8; ++i) {
    columns.push_back({"parameter" + std::to_string(i)});
    row.emplace_back("value");
  }
  for (const bool can_be_wide : {false, true}) {
    const auto lines = render(columns, {40, true, false, can_be_wide}, {row});
    for (const auto& line : lines) EXPECT_LE(display_width(line), 40U) << line;
    EXPECT_THAT(lines.back(), HasSubstr(can_be_wide ? "--wide" : "wider terminal"));
    EXPECT_THAT(lines.front(), HasSubstr("task"));
  }
}

TEST(Table, WideShowsEverything) {
  const auto lines = render({{"a"}, {"b"}}, {0, true, false},
                            {{{std::string(200, 'x')}, {std::string(200, 'y')}}});
  EXPECT_EQ(lines.back().size(), 402U);
}

TEST(Table, StreamsRowsAfterTheFirstThousand) {
  std::size_t lines = 0;
  Table table({{"n"}}, {}, [&](std::string_view) { ++lines; });
  for (int i = 0; i < 5000; ++i) {
    table.add({{std::to_string(i)}});
    if (i == 4000) {
      EXPECT_EQ(lines, 4002U);  // the title and rows 0 to 4000
    }
  }
  table.finish();
  EXPECT_EQ(lines, 5001U);
}

TEST(Table, NumbersThatGrowLaterAreNotCut) {
  std::string last;
  Table table({{"task", false, false, 7}, {"x", false, false}}, {},
              [&](std::string_view line) { last = line; });
  for (int i = 0; i < 1500; ++i) table.add({{std::to_string(i)}, {"1"}});
  table.add({{"1000000"}, {"123456789"}});
  EXPECT_EQ(last, "1000000  123456789");
  table.add({{"1"}, {"2"}});
  EXPECT_EQ(last, "      1          2");
}

TEST(Table, LaterRowsTakeTheRoomThatIsLeft) {
  std::string last;
  Table table({{"task", false, false}, {"value"}}, {40, true, false},
              [&](std::string_view line) { last = line; });
  for (int i = 0; i < 1000; ++i) table.add({{"1"}, {"1"}});
  table.add({{"1"}, {"1000000"}});
  EXPECT_EQ(last, "   1  1000000");
  table.add({{"1"}, {std::string(100, 'x')}});
  EXPECT_EQ(display_width(last), 40U) << last;
}

TEST(Table, NumbersAreRoundedNotCut) {
  EXPECT_THAT(render({{"a"}, {"b"}}, {20, true, false},
                     {{{"1.000000000000000e-09"}, {"123456789012345678"}},
                      {{"0.30000000000000004"}, {"2"}}}),
              ElementsAre("    a              b",  //
                          "1e-09  1.2345679e+17",  //
                          "  0.3              2"));
  EXPECT_THAT(render({{"a"}}, {0, true, false}, {{{"0.30000000000000004"}}}),
              ElementsAre("                  a", "0.30000000000000004"));
}

TEST(Table, NothingForNoRows) {
  EXPECT_TRUE(render({{"a"}}, {}, {}).empty());
}

}  // namespace
}  // namespace gantry::cli
