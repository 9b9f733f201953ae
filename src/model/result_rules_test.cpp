#include "model/result_rules.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gantry {
namespace {

using Source = ResultDefinition::Source;
using Values = std::vector<std::pair<std::string, std::string>>;

ResultDefinition pattern(const std::string& text) {
  ResultDefinition rule;
  rule.name = "e";
  rule.pattern = {text, {2, 6}, true};
  return rule;
}

ResultDefinition json_rule(std::vector<std::string> keys) {
  ResultDefinition rule;
  rule.name = "e";
  rule.source = Source::json;
  rule.keys = std::move(keys);
  return rule;
}

ResultDefinition csv_rule(const std::string& column, std::uint32_t row) {
  ResultDefinition rule;
  rule.name = "e";
  rule.source = Source::csv;
  rule.column = column;
  rule.row = row;
  return rule;
}

/// The value of one rule, or "error: …".
std::string value(ResultDefinition rule, const std::string& content) {
  const bool from_stdout = rule.source == Source::standard_output;
  const auto rules = ResultRules::compile({std::move(rule)}, "s.yaml");
  if (!rules) return "error: " + rules.error().message;
  const std::vector<std::string> paths{from_stdout ? "" : "/w/f"};
  const auto values = rules->extract(from_stdout ? content : "", paths, Values{{"/w/f", content}});
  if (!values) return "error: " + values.error().message;
  return values->empty() ? "nothing" : values->at(0).second;
}

TEST(ResultRules, TheLastMatchCounts) {
  EXPECT_EQ(value(pattern("E = (\\S+)"), "E = 1\nE = 2.5e-3\nend"), "2.5e-3");
  EXPECT_EQ(value(pattern("\\d+"), "1 22 333"), "333");
  EXPECT_EQ(value(pattern("^E=(.*)$"), "xE=1\nE=2\nxE=3\n"), "2");
  EXPECT_EQ(value(pattern("(a)|b"), "a b"), "") << "the group did not take part in the last match";
  EXPECT_EQ(value(pattern("x*"), "xx"), "") << "an empty match at the end";
  EXPECT_EQ(value(pattern("E = (\\S+)"), "nothing"),
            "error: 'e': the output has no match of 'E = (\\S+)'");
}

TEST(ResultRules, OutputNeedNotBeUtf8) {
  EXPECT_EQ(value(pattern("E=(.)"), "\xff\xfe E=\xff"), "\xff");
  EXPECT_EQ(value(pattern("größe (\\d+)"), "größe 7"), "7");
  EXPECT_EQ(value(pattern("E=(\\d)"), std::string("\0E=1\0", 5)), "1");
}

TEST(ResultRules, BadPatternsAreRefused) {
  EXPECT_EQ(value(pattern("E = ("), ""),
            "error: s.yaml:2:6: the pattern of 'e' is not a regular expression: missing ): E = (");
  EXPECT_EQ(value(pattern("(a)(b)"), ""),
            "error: s.yaml:2:6: the pattern of 'e' has more than one group");
}

TEST(ResultRules, Json) {
  const std::string text =
      R"({"a": {"b": [1.50, "two", {"c": true}], "n": null}, "big": 12345678901234567890})";
  EXPECT_EQ(value(json_rule({"a", "b", "0"}), text), "1.50");
  EXPECT_EQ(value(json_rule({"a", "b", "1"}), text), "two");
  EXPECT_EQ(value(json_rule({"a", "b", "-1", "c"}), text), "true");
  EXPECT_EQ(value(json_rule({"a", "b", "2"}), text), "{\"c\":true}");
  EXPECT_EQ(value(json_rule({"big"}), text), "12345678901234567890");
  EXPECT_EQ(value(json_rule({"a", "b", "3"}), text), "error: 'e': /w/f has no 'a.b.3'");
  EXPECT_EQ(value(json_rule({"a", "n"}), text), "error: 'e': /w/f has no 'a.n'");
  EXPECT_EQ(value(json_rule({"a", "b", "x"}), text), "error: 'e': /w/f has no 'a.b.x'");
  EXPECT_EQ(value(json_rule({"a"}), "{\"a\": "), "error: 'e': /w/f is not valid JSON");
  EXPECT_EQ(value(json_rule({"a"}), ""), "error: 'e': /w/f is not valid JSON");
}

TEST(ResultRules, DeeplyNestedJsonDoesNoHarm) {
  const std::string deep = std::string(200'000, '[') + std::string(200'000, ']');
  EXPECT_EQ(value(json_rule({"0", "0", "x"}), deep), "error: 'e': /w/f has no '0.0.x'");
  EXPECT_EQ(value(json_rule({"0"}), deep).size(), deep.size() - 2);
}

TEST(ResultRules, NumbersStayAsTheyWereWritten) {
  for (const std::string number : {"1.10", "1e5", "-0", "12345678901234567890123"}) {
    EXPECT_EQ(value(json_rule({"a"}), "{\"a\": " + number + "}"), number);
    EXPECT_EQ(value(csv_rule("a", 0), "a\n" + number + "\n"), number);
    EXPECT_EQ(value(pattern("a = (\\S+)"), "a = " + number + "\n"), number);
  }
}

TEST(ResultRules, ValuesAreNotEndless) {
  const std::string most(std::size_t{1} << 20, 'x');
  EXPECT_EQ(value(pattern("x+"), most), most);
  EXPECT_EQ(value(pattern("x+"), most + "x"),
            "error: 'e': the value has 1048577 bytes; those of one task may have 1048576");
}

TEST(ResultRules, ASearchThatTakesTheSquareIsGivenUp) {
  // Every x could begin a match that goes on to a y at the end of the line: there is none.
  const std::string line(std::size_t{4} << 20, 'x');
  EXPECT_EQ(value(pattern("x(?:.*y)?"), line),
            "error: 'e': looking for 'x(?:.*y)?' in 4194304 bytes of output takes too long");
}

TEST(ResultRules, Csv) {
  const std::string text = "t,\"energy, J\"\n0,\"1,5\"\n1,2.5\n2,\"a \"\"b\"\"\"\n";
  EXPECT_EQ(value(csv_rule("energy, J", 1), text), "1,5");
  EXPECT_EQ(value(csv_rule("energy, J", 0), text), "a \"b\"");
  EXPECT_EQ(value(csv_rule("t", 2), text), "1");
  EXPECT_EQ(value(csv_rule("t", 4), text), "error: 'e': /w/f has no row 4");
  EXPECT_EQ(value(csv_rule("t", 0), "t\n"), "error: 'e': /w/f has no row below its header");
  EXPECT_EQ(value(csv_rule("x", 0), text), "error: 'e': /w/f has no column 'x'");
  EXPECT_EQ(value(csv_rule("t", 0), "t,u\n1\n"),
            "error: 'e': /w/f: line 2: 1 fields, but the header has 2");
}

TEST(ResultRules, OptionalValuesMayBeMissing) {
  auto rule = pattern("E=(.)");
  rule.optional = true;
  EXPECT_EQ(value(rule, "none"), "nothing");
  auto file = json_rule({"x"});
  file.optional = true;
  const auto rules = ResultRules::compile({file}, "s.yaml");
  ASSERT_TRUE(rules);
  EXPECT_TRUE(rules->extract("", std::vector<std::string>{"/absent"}, Values{}));
}

TEST(ResultRules, NobodyKnowsWhatTheLostPartOfAnOutputHad) {
  auto rule = pattern("E=(.)");
  rule.optional = true;
  const auto rules = ResultRules::compile({rule}, "s.yaml");
  ASSERT_TRUE(rules);
  const std::vector<std::string> paths{""};
  EXPECT_TRUE(rules->extract("E=1", paths, Values{}, {}, true));
  const auto values = rules->extract("the end", paths, Values{}, {}, true);
  ASSERT_FALSE(values);
  EXPECT_EQ(
      values.error().message,
      "'e': the output has no match of 'E=(.)'; only the end of the output was kept: the disk "
      "was full");
}

TEST(ResultRules, TheDigestKnowsEveryPart) {
  const auto digest = [](const ResultDefinition& rule) {
    return ResultRules::compile({rule}, "")->digest();
  };
  const auto base = digest(csv_rule("a", 1));
  EXPECT_NE(digest(csv_rule("b", 1)), base);
  EXPECT_NE(digest(csv_rule("a", 2)), base);
  EXPECT_NE(digest(json_rule({"a"})), base);
  EXPECT_NE(digest(json_rule({"a", "b"})), digest(json_rule({"a.b"})));
  EXPECT_TRUE(ResultRules().digest().empty());
}

}  // namespace
}  // namespace gantry
