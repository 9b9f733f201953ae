#include "model/visible_text.hpp"

#include <gtest/gtest.h>

namespace gantry {
namespace {

TEST(OneLine, ShowsControlsAndBadBytes) {
  EXPECT_EQ(one_line("a\nb\tc\r"), "a\\nb\\tc\\r");
  EXPECT_EQ(one_line("\x1b[31mred"), "\\x1b[31mred");
  EXPECT_EQ(one_line("\xc2\x9b"
                     "31m"),
            "\\x9b31m");  // C1 control sequence introducer
  EXPECT_EQ(one_line("\xff"
                     "a"),
            "\\xffa");
  EXPECT_EQ(one_line("\xe2\x80\xae"
                     "exe"),
            "\\u202eexe");  // right-to-left override
  EXPECT_EQ(one_line("größe"), "größe");
  EXPECT_EQ(one_line("\xed\xa0\x80"), "\\xed\\xa0\\x80");  // a surrogate is not UTF-8
  EXPECT_EQ(one_line("\xc0\xaf"), "\\xc0\\xaf");           // overlong
}

TEST(Sanitiser, KeepsLinesAndTabsOnly) {
  Sanitiser sanitiser;
  EXPECT_EQ(sanitiser.feed("a\tb\n\x1b]0;title\x07\r\n"), "a\tb\n\\x1b]0;title\\x07\\r\n");
  EXPECT_EQ(sanitiser.finish(), "");
}

TEST(Sanitiser, HoldsBackSplitCharacters) {
  Sanitiser sanitiser;
  EXPECT_EQ(sanitiser.feed("x\xe6\x97"), "x");
  EXPECT_EQ(sanitiser.feed("\xa5!"), "日!");
  EXPECT_EQ(sanitiser.feed("\xe6\x97"), "");
  EXPECT_EQ(sanitiser.finish(), "\\xe6\\x97");
  // The C1 control U+009B split between two pieces must not get through.
  EXPECT_EQ(sanitiser.feed("\xc2"), "");
  EXPECT_EQ(sanitiser.feed("\x9b"), "\\x9b");
}

}  // namespace
}  // namespace gantry
