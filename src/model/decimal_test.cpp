#include "model/decimal.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cmath>
#include <limits>

namespace gantry {
namespace {

std::string again(std::string_view text, std::uint8_t width = 0) {
  const auto value = parse_decimal(text);
  if (!value) return "no";
  std::string out;
  append_decimal(out, *value, width);
  return out;
}

TEST(Decimal, ReadsAndWritesTheShortestText) {
  EXPECT_EQ(again("0"), "0");
  EXPECT_EQ(again("-0.50"), "-0.5");
  EXPECT_EQ(again("+12."), "12");
  EXPECT_EQ(again(".25"), "0.25");
  EXPECT_EQ(again("1e3"), "1000");
  EXPECT_EQ(again("1.5E-3"), "0.0015");
  EXPECT_EQ(again("25e+1"), "250");
  EXPECT_EQ(again("9223372036854775807"), "9223372036854775807");
  EXPECT_EQ(again("0.000000000000000001"), "0.000000000000000001");
  EXPECT_EQ(again("7", 3), "007");
  EXPECT_EQ(again("-7.5", 2), "-07.5");
}

TEST(Decimal, RefusesWhatIsNoDecimal) {
  for (const auto* text :
       {"", "-", ".", "1.2.3", "1e", "1e+", "0x10", "abc", "1 ", " 1", "nan", "inf", "--1",
        "9223372036854775808", "1e400", "1e-30", "1e19", "0.0000000000000000001"}) {
    EXPECT_EQ(again(text), "no") << text;
  }
}

TEST(Decimal, ScalesWithoutOverflow) {
  EXPECT_EQ(digits_at_scale({15, 1}, 3), 1500);
  EXPECT_EQ(digits_at_scale({std::numeric_limits<std::int64_t>::max(), 0}, 1), std::nullopt);
  EXPECT_EQ(digits_at_scale({-std::numeric_limits<std::int64_t>::max(), 0}, 18), std::nullopt);
}

TEST(Decimal, AnyWrittenDecimalReadsBackTheSame) {
  EXPECT_TRUE(rc::check([](std::int64_t digits) {
    RC_PRE(digits != std::numeric_limits<std::int64_t>::min());
    const auto scale = static_cast<std::uint8_t>(*rc::gen::inRange(0, 19));
    std::string text;
    append_decimal(text, {digits, scale});
    const auto read = parse_decimal(text);
    RC_ASSERT(read.has_value());
    RC_ASSERT(digits_at_scale(*read, scale) == digits);
  }));
}

TEST(Number, ParsesNumbersOnly) {
  EXPECT_EQ(parse_number("1"), 1.0);
  EXPECT_EQ(parse_number("+2.5"), 2.5);
  EXPECT_EQ(parse_number("-1e3"), -1000.0);
  EXPECT_EQ(parse_number(".5"), 0.5);
  for (const auto* text : {"", "nan", "inf", "-inf", "0x1p3", "1 ", "1,5", "+-1", "-", "1e999"}) {
    EXPECT_EQ(parse_number(text), std::nullopt) << text;
  }
}

TEST(Number, FormatsShortest) {
  EXPECT_EQ(format_number(100000), "100000");
  EXPECT_EQ(format_number(-0.0), "0");
  EXPECT_EQ(format_number(0.1), "0.1");
  EXPECT_EQ(format_number(0.1 + 0.2), "0.30000000000000004");
  EXPECT_EQ(format_number(1e300), "1e+300");
  EXPECT_EQ(format_number(9007199254740992.0), "9007199254740992");
  EXPECT_EQ(format_rounded(0.1 + 0.2, 15), "0.3");
  EXPECT_EQ(format_rounded(1234567.0, 3), "1230000");
  EXPECT_EQ(format_rounded(0.0, 15), "0");
}

TEST(Number, AnyFormattedNumberReadsBackTheSame) {
  EXPECT_TRUE(rc::check([](double value) {
    RC_PRE(std::isfinite(value));
    RC_ASSERT(parse_number(format_number(value)) == value);
  }));
}

}  // namespace
}  // namespace gantry
