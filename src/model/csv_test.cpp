#include "model/csv.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

namespace gantry {
namespace {

using ::testing::ElementsAre;
using Row = std::vector<std::string>;

TEST(Csv, ReadsWhatRfc4180Describes) {
  const auto table = parse_csv(
      "\xEF\xBB\xBF"
      "a,\"b,c\",d\r\n1,\"two\nlines\",\"say \"\"hi\"\"\"\r\n\r\n,,\n");
  ASSERT_TRUE(table) << table.error().message;
  EXPECT_THAT(table->header, ElementsAre("a", "b,c", "d"));
  EXPECT_THAT(table->rows, ElementsAre(Row{"1", "two\nlines", "say \"hi\""}, Row{"", "", ""}));
  EXPECT_EQ(table->column("d"), 2U);
  EXPECT_EQ(table->column("x"), std::nullopt);
}

TEST(Csv, SaysWhichLineIsWrong) {
  EXPECT_EQ(parse_csv("a,b\n1\n").error().message, "line 2: 1 fields, but the header has 2");
  EXPECT_EQ(parse_csv("a,b\n\"x\ny\",1\n\"z").error().message, "line 4: a quote is not closed");
  EXPECT_EQ(parse_csv("a\n\"x\"y\n").error().message, "line 2: text follows a closing quote");
  EXPECT_EQ(parse_csv("").error().message, "no header line");
  EXPECT_EQ(parse_csv("\n\n").error().message, "no header line");
}

TEST(Csv, AnyQuotedFieldsReadBackTheSame) {
  EXPECT_TRUE(rc::check([](const std::vector<std::string>& values) {
    std::string text = "h,i\n";
    for (const auto& value : values) {
      std::string quoted = "\"";
      for (const char c : value) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
      text += quoted + "\",x\r\n";
    }
    const auto table = parse_csv(text);
    RC_ASSERT(table.has_value());
    RC_ASSERT(table->rows.size() == values.size());
    for (std::size_t i = 0; i < values.size(); ++i) RC_ASSERT(table->rows[i][0] == values[i]);
  }));
}

}  // namespace
}  // namespace gantry
