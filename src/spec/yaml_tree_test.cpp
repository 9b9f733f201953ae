#include "spec/yaml_tree.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gantry::spec {
namespace {

using ::testing::HasSubstr;

std::string yaml_error(const std::string& text) {
  const auto root = parse_yaml(text, "f");
  return root ? "no error" : root.error().message;
}

std::string repeat(const std::string& text, std::size_t times) {
  std::string out;
  for (std::size_t i = 0; i < times; ++i) out += text;
  return out;
}

TEST(YamlTree, KeepsKindsAndPlaces) {
  const auto root = parse_yaml("a: x\nb:\n  - 1\n  - 'q t'\nc: {d: ~}\n", "f");
  ASSERT_TRUE(root) << root.error().message;
  ASSERT_EQ(root->entries.size(), 3U);
  const auto& [b, list] = root->entries[1];
  EXPECT_EQ(b.text, "b");
  EXPECT_EQ(b.mark.line, 2U);
  ASSERT_TRUE(list.is_sequence());
  EXPECT_FALSE(list.items[0].quoted);
  EXPECT_TRUE(list.items[1].quoted);
  EXPECT_EQ(list.items[1].text(), "q t");
  EXPECT_EQ(list.items[1].mark().line, 4U);
  EXPECT_EQ(list.items[1].mark().column, 6U) << "of the text, behind the quote";
  EXPECT_EQ(root->entries[2].second.entries[0].second.kind, YamlNode::Kind::null);
}

TEST(YamlTree, KnowsWhetherColumnsAreExact) {
  const auto root = parse_yaml("a: plain text\nb: \"esc\\t\"\nc: |\n  block\nd: 'it''s'\n", "f");
  ASSERT_TRUE(root);
  EXPECT_TRUE(root->entries[0].second.scalar.exact);
  EXPECT_EQ(root->entries[0].second.scalar.at(6).column, 10U);
  EXPECT_FALSE(root->entries[1].second.scalar.exact);
  EXPECT_FALSE(root->entries[2].second.scalar.exact);
  EXPECT_FALSE(root->entries[3].second.scalar.exact);
  EXPECT_EQ(root->entries[3].second.scalar.at(2).column, root->entries[3].second.mark().column);
}

TEST(YamlTree, AliasesRepeatTheirNode) {
  const auto root = parse_yaml("a: &x [1, 2]\nb: *x\n", "f");
  ASSERT_TRUE(root);
  EXPECT_EQ(root->entries[1].second.items.size(), 2U);
}

TEST(YamlTree, DepthIsBounded) {
  EXPECT_THAT(yaml_error(repeat("[", 31) + repeat("]", 31)), HasSubstr("no error"));
  EXPECT_THAT(yaml_error(repeat("[", 100'000)), HasSubstr("nested more than 32 levels"));
  EXPECT_THAT(yaml_error(repeat("{a: ", 100'000)), HasSubstr("nested more than 32 levels"));
  EXPECT_THAT(yaml_error(repeat("- ", 100'000)), HasSubstr("nested more than 32 levels"));
  EXPECT_THAT(yaml_error(repeat("? ", 100'000)), HasSubstr("f:"));
  std::string chain = "a0: &a0 [x]\n";
  for (int i = 1; i < 60; ++i) {
    chain += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [*a" + std::to_string(i - 1) +
             "]\n";
  }
  EXPECT_THAT(yaml_error(chain), HasSubstr("nested more than 32 levels"));
}

TEST(YamlTree, AliasesOfLongTextAreRefused) {
  std::string text = "a: &a [" + std::string(1 << 20, 'x') + "]\nb:\n";
  for (int i = 0; i < 20'000; ++i) text += "- *a\n";
  const auto root = parse_yaml(text, "f");
  ASSERT_FALSE(root);
  // 16 of them are 16 MiB; the first item stands in line 3.
  EXPECT_THAT(root.error().message, HasSubstr("f:19:3: aliases repeat more than 16 MiB of text"));
}

TEST(YamlTree, AliasBombsAreRefused) {
  std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 12; ++i) {
    const std::string previous = "*a" + std::to_string(i - 1);
    bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" +
            repeat(previous + ", ", 9) + previous + "]\n";
  }
  EXPECT_THAT(yaml_error(bomb), HasSubstr("more than 1000000 values"));
}

TEST(YamlTree, SizeIsBounded) {
  EXPECT_EQ(yaml_error(std::string(kMaxYamlBytes + 1, ' ')), "f: longer than 16 MiB");
}

TEST(YamlTree, DuplicateKeysAreSeenAtEveryLevel) {
  EXPECT_EQ(yaml_error("a: {b: 1, c: 2, b: 3}"), "f:1:17: the key 'b' appears twice");
  EXPECT_EQ(yaml_error("a: 1\n'a': 2"), "f:2:2: the key 'a' appears twice");
}

TEST(YamlTree, BadEscapesAreAnError) {
  EXPECT_THAT(yaml_error("a: \"\\xZZ\""), HasSubstr("f:1:"));
}

TEST(YamlTree, ASecondDocumentIsAnError) {
  EXPECT_THAT(yaml_error("a: 1\n---\nb: 2\n"), HasSubstr("f:3:1: a second YAML document"));
  EXPECT_TRUE(parse_yaml("---\na: 1\n...\n", "f"));
  EXPECT_TRUE(parse_yaml("a: 1\n---\n", "f"));
}

TEST(YamlTree, AnUnquotedColonInTextIsHintedAt) {
  const auto parsed = parse_yaml("command: echo key: value\n", "f");
  ASSERT_FALSE(parsed);
  EXPECT_THAT(parsed.error().hint, HasSubstr("': ' needs quotes"));
}

}  // namespace
}  // namespace gantry::spec
