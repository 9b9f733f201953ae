#include "cli/terminal/format.hpp"

#include <gtest/gtest.h>

namespace gantry::cli {
namespace {

TEST(FormatDuration, ChangesUnitBeforeItRoundsUp) {
  EXPECT_EQ(format_duration(from_seconds(0)), "0 ms");
  EXPECT_EQ(format_duration(from_seconds(0.0124)), "12 ms");
  EXPECT_EQ(format_duration(from_seconds(0.99999)), "1.00 s");
  EXPECT_EQ(format_duration(from_seconds(9.999)), "10.0 s");
  EXPECT_EQ(format_duration(from_seconds(59.99)), "1m00s");
  EXPECT_EQ(format_duration(from_seconds(303)), "5m03s");
  EXPECT_EQ(format_duration(from_seconds(3599.9)), "1h00m");
  EXPECT_EQ(format_duration(from_seconds(86400 * 3 + 3600 * 4)), "3d04h");
  EXPECT_EQ(format_duration(from_seconds(-1)), "-");
}

TEST(FormatTime, IsoIsUtcWithMilliseconds) {
  EXPECT_EQ(format_time_iso(from_ns(1'700'000'000'123'456'789)), "2023-11-14T22:13:20.123Z");
  EXPECT_EQ(format_time_iso(kNever), "");
  EXPECT_EQ(format_time(kNever), "-");
}

TEST(ParseNumber, TakesWholeTextOnly) {
  EXPECT_EQ(parse_number("1.5"), 1.5);
  EXPECT_EQ(parse_number("+2"), 2.0);
  EXPECT_EQ(parse_number("1.5x"), std::nullopt);
  EXPECT_EQ(parse_number(""), std::nullopt);
}

TEST(Format, NumbersAreRoundedForReading) {
  EXPECT_EQ(round_number("1.000000000000000e-09"), "1e-09");
  EXPECT_EQ(round_number("0.12345678901234567"), "0.123457");
  EXPECT_EQ(round_number("-2.5000000000000004"), "-2.5");
  EXPECT_EQ(round_number("1234567.891"), "1234567.9");
  EXPECT_EQ(round_number("0.000012345"), "0.000012345");  // five digits that count
  EXPECT_EQ(round_number("3.140"), "3.140");
  EXPECT_EQ(round_number("12345678901234567890"), "12345678901234567890");
  EXPECT_EQ(round_number("1.2.3.4.5.6.7.8"), "1.2.3.4.5.6.7.8");
  EXPECT_EQ(round_number("results.example"), "results.example");
}

TEST(Format, NumbersFitWithoutLosingTheirMagnitude) {
  EXPECT_EQ(fit_number("1.23456789e-09", 8), "1.23e-09");
  EXPECT_EQ(fit_number("123456789012", 8), "1.23e+11");
  EXPECT_EQ(fit_number("0.33333333", 5), "0.333");
  EXPECT_EQ(fit_number("-1.5e-300", 8), "-2e-300");
  EXPECT_EQ(fit_number("42", 8), "42");
  EXPECT_EQ(fit_number("-1.5e-300", 4), std::nullopt);
  EXPECT_EQ(fit_number("word", 8), std::nullopt);
}

TEST(Format, ShortTimesNameTheYearOnlyWhenItIsAnother) {
  const TimePoint then =
      from_ns(1'700'000'000'000'000'000);  // 2023-11-14, noon to midnight anywhere
  EXPECT_EQ(format_time_short(then, then + std::chrono::hours(1)).substr(0, 5), "Nov 1");
  EXPECT_EQ(format_time_short(then, then + std::chrono::hours(24 * 365)).substr(0, 9), "2023-11-1");
  EXPECT_EQ(format_time_short(kNever, then), "-");
}

TEST(FormatEta, AForecastTellsHowSureItIs) {
  const auto eta = [](double expected, double soonest, double latest) {
    return format_eta({from_seconds(expected), from_seconds(soonest), from_seconds(latest)});
  };
  EXPECT_EQ(eta(0.2, 0.1, 0.9), "1 s");
  EXPECT_EQ(eta(21, 21, 21), "21 s");
  EXPECT_EQ(eta(21, 18, 30), "21 s (18 s to 30 s)");
  EXPECT_EQ(eta(303, 280, 430), "5m03s (4m40s to 7m10s)");
  EXPECT_EQ(eta(303, 301, 309), "5m03s");
  EXPECT_EQ(eta(7300, 59.6, 1e6), "2h01m (60 s to 11d13h)");
}

}  // namespace
}  // namespace gantry::cli
