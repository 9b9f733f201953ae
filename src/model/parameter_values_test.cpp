#include "model/parameter_values.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

namespace gantry {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> all(const ParameterValues& values) {
  std::vector<std::string> result;
  std::string scratch;
  for (std::uint32_t i = 0; i < values.size(); ++i)
    result.emplace_back(values.text({i, 0}, scratch));
  return result;
}

std::string value_at(const Result<ParameterValues>& values, double fraction) {
  std::string scratch;
  return std::string(values->text({0, fraction}, scratch));
}

TEST(ParameterValues, Ranges) {
  EXPECT_THAT(all(**ParameterValues::range("1..3")), ElementsAre("1", "2", "3"));
  EXPECT_THAT(all(**ParameterValues::range(" -0.1 .. 0.1 step 0.1 ")),
              ElementsAre("-0.1", "0", "0.1"));
  EXPECT_THAT(all(**ParameterValues::range("5..5")), ElementsAre("5"));
  EXPECT_THAT(all(**ParameterValues::range("0..1 step 0.4")), ElementsAre("0", "0.4", "0.8"));
  EXPECT_THAT(all(**ParameterValues::range("1e3..3e3 step 1e3")),
              ElementsAre("1000", "2000", "3000"));
  EXPECT_THAT(all(**ParameterValues::range("098..101")), ElementsAre("098", "099", "100", "101"));
  EXPECT_THAT(all(**ParameterValues::range("0.5..2")), ElementsAre("0.5", "1.5"));
}

TEST(ParameterValues, RangesFromEndToEnd) {
  EXPECT_THAT(all(**ParameterValues::range("-9223372036854775807..9223372036854775807 step 9e18")),
              ElementsAre("-9223372036854775807", "-223372036854775807", "8776627963145224193"));
  EXPECT_EQ((*ParameterValues::range("-9223372036854775807..9223372036854775807"))->size(),
            UINT64_MAX);
}

TEST(ParameterValues, TextThatIsNoRange) {
  for (const auto* text : {"", "..", "a..b", "../x", "1..", "..2", "1.5", "1..b", "x1..2"}) {
    EXPECT_FALSE(ParameterValues::range(text)) << text;
  }
}

TEST(ParameterValues, RangesGoneWrong) {
  for (const auto* text : {"3..1", "1..3 step -1", "1..2 step 0", "1..2 step x",
                           "0..1 step 0.0000000000000000001", "-9e18..9e18 step 1e-3"}) {
    const auto range = ParameterValues::range(text);
    ASSERT_TRUE(range) << text;
    EXPECT_FALSE(*range) << text;
  }
  EXPECT_EQ((*ParameterValues::range("-9e18..9e18"))->size(), 18'000'000'000'000'000'001U);
}

TEST(ParameterValues, EveryValueOfARangeLiesOnItsGrid) {
  EXPECT_TRUE(rc::check([] {
    const auto first = *rc::gen::inRange<std::int64_t>(-100000, 100000);
    const auto step = *rc::gen::inRange<std::int64_t>(1, 5000);
    const auto count = *rc::gen::inRange<std::int64_t>(1, 50);
    const auto scale = static_cast<std::uint8_t>(*rc::gen::inRange(0, 6));
    const auto text = [&](std::int64_t digits) {
      std::string out;
      append_decimal(out, {digits, scale});
      return out;
    };
    const auto range =
        ParameterValues::range(text(first), text(first + step * (count - 1)), text(step));
    RC_ASSERT(range.has_value());
    RC_ASSERT(range->size() == static_cast<std::uint64_t>(count));
    std::string scratch;
    for (std::uint32_t i = 0; i < range->size(); ++i) {
      RC_ASSERT(range->text({i, 0}, scratch) == text(first + step * i));
    }
  }));
}

TEST(ParameterValues, Spaced) {
  EXPECT_THAT(all(*ParameterValues::linspace(0, 1, 5)),
              ElementsAre("0", "0.25", "0.5", "0.75", "1"));
  EXPECT_THAT(all(*ParameterValues::linspace(0, 0.3, 4)), ElementsAre("0", "0.1", "0.2", "0.3"));
  EXPECT_THAT(all(*ParameterValues::linspace(1, 5, 1)), ElementsAre("1"));
  EXPECT_THAT(all(*ParameterValues::logspace(1, 1e4, 5)),
              ElementsAre("1", "10", "100", "1000", "10000"));
  EXPECT_THAT(all(*ParameterValues::logspace(1000, 1, 4)), ElementsAre("1000", "100", "10", "1"));
  EXPECT_THAT(all(*ParameterValues::logspace(-1, -100, 3)), ElementsAre("-1", "-10", "-100"));
  EXPECT_FALSE(ParameterValues::linspace(0, 1, 0));
  EXPECT_FALSE(ParameterValues::logspace(0, 1, 2));
  EXPECT_FALSE(ParameterValues::logspace(-1, 1, 2));
  EXPECT_FALSE(ParameterValues::linspace(0, std::numeric_limits<double>::infinity(), 2));
}

TEST(ParameterValues, Continuous) {
  const auto uniform = ParameterValues::uniform(2, 4);
  EXPECT_TRUE(uniform->continuous());
  EXPECT_EQ(uniform->size(), 0U);
  EXPECT_EQ(value_at(uniform, 0), "2");
  EXPECT_EQ(value_at(uniform, 0.5), "3");
  const auto log = ParameterValues::loguniform(0.01, 100);
  EXPECT_EQ(value_at(log, 0), "0.01");
  EXPECT_EQ(value_at(log, 0.25), "0.1");
  EXPECT_EQ(value_at(log, 0.5), "1");
  EXPECT_EQ(value_at(log, 0.75), "10");
}

TEST(ParameterValues, KnowsWhatItsTextsLookLike) {
  EXPECT_TRUE(ParameterValues::list({"1", "2.5", "-1e3"}).numeric());
  EXPECT_FALSE(ParameterValues::list({"1", "x"}).numeric());
  EXPECT_EQ(ParameterValues::list({"ab", "", "abc"}).longest(), 3U);
  EXPECT_TRUE(ParameterValues::list({"a", "b"}).distinct());
  EXPECT_FALSE(ParameterValues::list({"a", "b", "a"}).distinct());
  EXPECT_TRUE((*ParameterValues::range("1..9"))->distinct());
  EXPECT_TRUE(ParameterValues::list({"a_b", "b"}).may_contain('_'));
  EXPECT_FALSE(ParameterValues::list({"ab"}).may_contain('_'));
  EXPECT_FALSE((*ParameterValues::range("1..9"))->may_contain('_'));
  EXPECT_TRUE((*ParameterValues::range("1..9"))->may_contain('-'));
}

TEST(ParameterValues, RangesThatMissTheirStepSaySo) {
  for (const auto* text : {"0.1..0.5", "0..1step0.5", "0..1 step0.5"}) {
    const auto range = ParameterValues::range(text);
    ASSERT_TRUE(range) << text;
    ASSERT_FALSE(*range) << text;
    EXPECT_NE(range->error().hint.find(" step "), std::string::npos) << text;
  }
  EXPECT_TRUE(*ParameterValues::range("5..5"));
  EXPECT_FALSE(ParameterValues::range("1..steps"));
}

}  // namespace
}  // namespace gantry
