#include "cli/terminal/display_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gantry::cli {
namespace {

using testing::ElementsAre;

TEST(DisplayWidth, CountsColumnsNotBytes) {
  EXPECT_EQ(display_width("abc"), 3U);
  EXPECT_EQ(display_width("Ångström"), 8U);
  EXPECT_EQ(display_width("日本"), 4U);
  EXPECT_EQ(display_width("e\xcc\x81"), 1U);  // e and a combining acute accent
  EXPECT_EQ(display_width("\xff\xfe"), 2U);
}

TEST(Fit, CutsAtWidthWithEllipsis) {
  EXPECT_EQ(fit("abcdef", 6, true), "abcdef");
  EXPECT_EQ(fit("abcdefg", 6, true), "abcde…");
  EXPECT_EQ(fit("abcdefg", 6, false), "abc...");
  // Four wide characters need eight columns; in six, two fit beside the ellipsis and one column
  // stays free.
  EXPECT_EQ(fit("日本語文", 6, true), "日本…");
  EXPECT_EQ(fit("abcdef", 0, true), "");
}

TEST(Wrap, BreaksAtSpaces) {
  EXPECT_THAT(wrap("one two three", 7), ElementsAre("one two", "three"));
  EXPECT_THAT(wrap("abcdefghij", 4), ElementsAre("abcd", "efgh", "ij"));
  EXPECT_THAT(wrap("a\n\nb", 10), ElementsAre("a", "", "b"));
  EXPECT_THAT(wrap("", 10), ElementsAre(""));
  EXPECT_THAT(wrap("one two three four", 8, 2), ElementsAre("one two", "  three", "  four"));
  EXPECT_THAT(wrap("  indented words", 10), ElementsAre("  indented", "words"));
}

TEST(Wrap, MakesProgressWhenNothingFits) {
  EXPECT_EQ(wrap("日本", 1).size(), 6U);  // byte by byte rather than never
}

TEST(ShellQuote, IsReadBackByAShell) {
  EXPECT_EQ(shell_quote("plain-1.0/x"), "plain-1.0/x");
  EXPECT_EQ(shell_quote(""), "''");
  EXPECT_EQ(shell_quote("a b"), "'a b'");
  EXPECT_EQ(shell_quote("it's"), "'it'\\''s'");
  EXPECT_EQ(shell_quote("$(rm -rf /)"), "'$(rm -rf /)'");
  EXPECT_EQ(shell_quote("a\nb'\\"), "$'a\\nb\\'\\\\'");
  EXPECT_EQ(shell_quote("~"), "'~'");
  EXPECT_EQ(shell_quote("a^b"), "'a^b'");
  EXPECT_EQ(shell_quote(std::vector<std::string>{"echo", "a b"}), "echo 'a b'");
}

TEST(DisplayText, TheMiddleIsLeftOut) {
  EXPECT_EQ(fit_ends("short", 30, true), "short");
  const std::string text = "begin " + std::string(500, 'x') + " end";
  const std::string cut = fit_ends(text, 30, true);
  EXPECT_EQ(display_width(cut), 30U);
  EXPECT_TRUE(cut.starts_with("begin x") && cut.ends_with("x end")) << cut;
  std::string wide;
  for (int i = 0; i < 100; ++i) wide += "漢";  // three bytes, two columns
  for (std::size_t columns = 10; columns < 40; ++columns)
    EXPECT_LE(display_width(fit_ends(wide, columns, true)), columns);
}

TEST(WrapWords, NoWordIsBroken) {
  using Lines = std::vector<std::string>;
  EXPECT_EQ(wrap_words("  task 1: exit code 3: no file", 16, 4),
            (Lines{"  task 1: exit", "    code 3: no", "    file"}));
  EXPECT_EQ(wrap_words("see /a/very/long/path/of/a/file there", 10, 2),
            (Lines{"see", "  /a/very/long/path/of/a/file", "  there"}));
  EXPECT_EQ(wrap_words("/a/very/long/path", 5, 2), Lines{"/a/very/long/path"});
  EXPECT_EQ(wrap_words("", 5, 2), Lines{""});
}

}  // namespace
}  // namespace gantry::cli
