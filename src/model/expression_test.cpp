#include "model/expression.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <rapidcheck.h>
#include <cmath>

namespace gantry {
namespace {

/// x = 3, y = 0.5, sin = 7 (a parameter may be called like a function), geom is one of these texts.
class ExpressionTest : public ::testing::Test {
 protected:
  double value(const std::string& text, std::size_t geom = 0) {
    auto set = make();
    const auto index = set.parse({text, {4, 10}, true});
    if (!index) throw std::runtime_error(index.error().message);
    set.finish();
    set.set_number(0, 3);
    set.set_number(1, 0.5);
    set.set_number(2, 7);
    if (set.uses(3)) set.set_text(3, geom);
    return set.evaluate(*index);
  }
  std::string error(const std::string& text) {
    auto set = make();
    const auto index = set.parse({text, {4, 10}, true});
    if (index) return "no error";
    return index.error().message + (index.error().hint.empty() ? "" : " | " + index.error().hint);
  }

 private:
  ExpressionSet make() {
    ExpressionSet set("s.yaml");
    set.add_number("x");
    set.add_number("y");
    set.add_number("sin");
    set.add_text("geom", texts_);
    return set;
  }
  std::vector<std::string> texts_{"b.mdl", "a.mdl", "c.mdl"};
};

TEST_F(ExpressionTest, Arithmetic) {
  EXPECT_EQ(value("x + 2*y"), 4);
  EXPECT_EQ(value("x ** 2"), 9);
  EXPECT_EQ(value("-x^2"), -9);
  EXPECT_EQ(value("x % 2"), 1);
  EXPECT_EQ(value("floor(x / 2) + ceil(y) + round(2.5) + trunc(1.9)"), 6);
  EXPECT_EQ(value("min(x, y) + max(x, y, 10)"), 10.5);
  EXPECT_EQ(value("x > 2 ? 10 : 20"), 10);
  EXPECT_EQ(value("1.5e2 + .5"), 150.5);
  EXPECT_EQ(value("sin + sin(0)"), 7);
  EXPECT_DOUBLE_EQ(value("pi"), M_PI);
  EXPECT_DOUBLE_EQ(value("ln(x)"), std::log(3));
  EXPECT_DOUBLE_EQ(value("log(x)"), std::log(3));
  EXPECT_DOUBLE_EQ(value("log10(x)"), std::log10(3));
}

TEST_F(ExpressionTest, Logic) {
  EXPECT_EQ(value("x > 2 and y < 1"), 1);
  EXPECT_EQ(value("x > 5 or y < 1"), 1);
  EXPECT_EQ(value("not x > 5"), 1);
  EXPECT_EQ(value("not x == 3 and y == 0.5"), 0);
  EXPECT_EQ(value("!(x == 3)"), 0);
  EXPECT_EQ(value("!y + 1"), 1);
  EXPECT_EQ(value("x >= 3 && x <= 3 && x != 4"), 1);
}

TEST_F(ExpressionTest, TextIsComparedInAlphabeticalOrder) {
  EXPECT_EQ(value("geom == \"b.mdl\"", 0), 1);
  EXPECT_EQ(value("geom == 'b.mdl'", 1), 0);
  EXPECT_EQ(value("geom != \"nothing\"", 1), 1);
  EXPECT_EQ(value("geom < \"b\"", 1), 1);
  EXPECT_EQ(value("geom < \"b\"", 0), 0);
  EXPECT_EQ(value("\"b\" < geom", 2), 1);
  EXPECT_EQ(value("x == 3 and (geom == \"c.mdl\" or geom == \"a.mdl\")", 1), 1);
  EXPECT_EQ(value("not geom == \"c.mdl\"", 1), 1);
  EXPECT_EQ(value("geom == \"a.mdl\" ? 5 : 6", 1), 5);
}

TEST_F(ExpressionTest, TextNeverMeetsANumber) {
  EXPECT_EQ(error("geom == 1"),
            "s.yaml:4:10: geom is text: it can only be compared with another text | as in "
            "geometry == \"a.mdl\"");
  for (const auto* text :
       {"geom + 1", "1 + geom == \"a\"", "geom == \"a\" + 1", "-geom == \"a\"", "\"a\"", "geom",
        "min(geom, \"a\")", "geom == \"a\" == \"b\"", "!geom == \"a\"", "(geom) == \"a\""}) {
    EXPECT_THAT(error(text), ::testing::HasSubstr("is text")) << text;
  }
}

TEST_F(ExpressionTest, ErrorsPointAtThePlace) {
  EXPECT_EQ(
      error("x + sed"),
      "s.yaml:4:14: 'sed' is not a parameter | to compare with a text, put it in quotes: \"sed\"");
  EXPECT_EQ(error("x + geon"), "s.yaml:4:14: 'geon' is not a parameter | did you mean 'geom'?");
  EXPECT_EQ(error("x = 3"), "s.yaml:4:12: '=' does not compare | write == to compare");
  EXPECT_EQ(error("{x} > 3"),
            "s.yaml:4:10: an expression names parameters without braces | write seed, not {seed}");
  EXPECT_EQ(error("sqr(x)"), "s.yaml:4:10: there is no function 'sqr' | did you mean 'sqrt'?");
  EXPECT_EQ(error("x +"), "s.yaml:4:13: the expression cannot be understood at the end");
  EXPECT_EQ(error("x + ) 3"), "s.yaml:4:14: the expression cannot be understood at ')'");
  EXPECT_EQ(error("x y"), "s.yaml:4:12: the expression cannot be understood at 'y'");
  EXPECT_EQ(error("x & 1"), "s.yaml:4:12: '&' is no operator here | write &&");
  EXPECT_EQ(error("x, y"), "s.yaml:4:10: an expression has one value, not several with commas");
  EXPECT_EQ(error("geom == \"a"), "s.yaml:4:18: a quote is not closed");
  EXPECT_EQ(error("12abc"), "s.yaml:4:10: '12a' is not a number");
  EXPECT_EQ(error("x ; y"), "s.yaml:4:12: ';' cannot stand in an expression");
  EXPECT_EQ(error("  "), "s.yaml:4:10: the expression is empty");
  EXPECT_THAT(error(std::string(20'000, '(')), ::testing::HasSubstr("at most 10000"));
  EXPECT_THAT(error(std::string(10'000, '(')), ::testing::HasSubstr("cannot be understood"));
}

TEST_F(ExpressionTest, AnyTextIsAnsweredWithoutCrashing) {
  EXPECT_TRUE(rc::check([this] {
    const auto pieces = *rc::gen::container<std::vector<std::string>>(rc::gen::element<std::string>(
        "x", "y", "geom", "\"a\"", "(", ")", "+", "-", "*", "==", "<", "and", "not", "?", ":", ",",
        "1", "sin", "!", "%", "max", "="));
    std::string text;
    for (const auto& piece : pieces) text += piece + " ";
    error(text);
  }));
}

}  // namespace
}  // namespace gantry
