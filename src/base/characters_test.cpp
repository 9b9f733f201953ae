#include "base/characters.hpp"

#include <gtest/gtest.h>

namespace gantry {
namespace {

TEST(LastLine, IsTheLastThatSaysSomething) {
  EXPECT_EQ(last_line("one\ntwo\n\n"), "two");
  EXPECT_EQ(last_line("one"), "one");
  EXPECT_EQ(last_line(" \n"), "");
  EXPECT_EQ(last_line("a\n\x1b[31mred \n"), "\x1b[31mred");
}

}  // namespace
}  // namespace gantry
