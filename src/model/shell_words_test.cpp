#include "model/shell_words.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

namespace gantry {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> split(std::string_view text) {
  std::size_t offset = 0;
  const auto words = split_shell_words(text, offset);
  if (!words) return {"ERROR " + std::to_string(offset) + " " + words.error().message};
  std::vector<std::string> result;
  for (const auto& word : *words) result.push_back(word.text);
  return result;
}

TEST(ShellWords, SplitsLikeAShellWithoutExpanding) {
  EXPECT_THAT(split("a  b\tc\nd"), ElementsAre("a", "b", "c", "d"));
  EXPECT_THAT(split("  "), IsEmpty());
  EXPECT_THAT(split("'a b' \"c d\" e\\ f"), ElementsAre("a b", "c d", "e f"));
  EXPECT_THAT(split("a'b'\"c\"d"), ElementsAre("abcd"));
  EXPECT_THAT(split("'' \"\""), ElementsAre("", ""));
  EXPECT_THAT(split("$HOME *.c ~ `x` $(y)"), ElementsAre("$HOME", "*.c", "~", "`x`", "$(y)"));
  EXPECT_THAT(split("\"a\\\"b\\$c\\n\""), ElementsAre("a\"b$c\\n"));
  EXPECT_THAT(split("'a\\b'"), ElementsAre("a\\b"));
  EXPECT_THAT(split("a \\\n  b\\\nc"), ElementsAre("a", "bc"));
  EXPECT_THAT(split("a;b|c"), ElementsAre("a;b|c"));
}

TEST(ShellWords, SaysWhatIsNotClosed) {
  EXPECT_THAT(split("ab 'c"), ElementsAre("ERROR 3 a single quote is not closed"));
  EXPECT_THAT(split("ab \"c\\\""), ElementsAre("ERROR 3 a double quote is not closed"));
  EXPECT_THAT(split("ab\\"), ElementsAre("ERROR 2 nothing follows the backslash at the end"));
}

TEST(ShellWords, TellsWhereWordsBegin) {
  std::size_t offset = 0;
  const auto words = split_shell_words(" ab 'c d'x", offset);
  ASSERT_TRUE(words);
  EXPECT_EQ(words->at(0).offset, 1U);
  EXPECT_TRUE(words->at(0).verbatim);
  EXPECT_EQ(words->at(1).offset, 4U);
  EXPECT_FALSE(words->at(1).verbatim);
}

TEST(ShellWords, QuotedWordsSplitBackToThemselves) {
  EXPECT_TRUE(rc::check([](const std::vector<std::string>& words) {
    std::string line;
    for (const auto& word : words) line += quote_shell_word(word) + " ";
    RC_ASSERT(split(line) == words);
  }));
}

TEST(ShellWords, QuotedForEveryPlace) {
  EXPECT_TRUE(rc::check([](const std::string& value) {
    std::string line = "'";
    append_inside_single_quotes(line, value);
    line += "' \"";
    append_inside_double_quotes(line, value);
    line += "\" ";
    append_single_quoted(line, value);
    RC_ASSERT(split(line) == std::vector<std::string>(3, value));
  }));
}

TEST(ShellWords, PlainWordsStayBare) {
  EXPECT_EQ(quote_shell_word("--out=a/b_1.2"), "--out=a/b_1.2");
  EXPECT_EQ(quote_shell_word(""), "''");
  EXPECT_EQ(quote_shell_word("a b"), "'a b'");
  EXPECT_EQ(quote_shell_word("~"), "'~'");
}

}  // namespace
}  // namespace gantry
