#include "cli/terminal/terminal.hpp"

#include <gtest/gtest.h>

#include <map>

namespace gantry::cli {
namespace {

Terminal decide(ColorMode mode, bool out, bool err,
                const std::map<std::string, std::string>& variables) {
  return Terminal::decide(mode, out, err, [&](const char* name) -> const char* {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  });
}

TEST(Terminal, ColorsFollowTtyModeAndNoColor) {
  EXPECT_TRUE(decide(ColorMode::automatic, true, false, {}).color_stdout);
  EXPECT_FALSE(decide(ColorMode::automatic, true, false, {}).color_stderr);
  EXPECT_FALSE(decide(ColorMode::automatic, true, true, {{"NO_COLOR", "1"}}).color_stdout);
  EXPECT_TRUE(decide(ColorMode::automatic, true, true, {{"NO_COLOR", ""}}).color_stdout);
  EXPECT_TRUE(decide(ColorMode::always, false, false, {{"NO_COLOR", "1"}}).color_stdout);
  EXPECT_FALSE(decide(ColorMode::never, true, true, {}).color_stdout);
  EXPECT_FALSE(decide(ColorMode::automatic, true, true, {{"TERM", "dumb"}}).color_stdout);
}

TEST(Terminal, Utf8ComesFromTheFirstLocaleVariable) {
  EXPECT_TRUE(decide(ColorMode::never, true, true, {{"LANG", "en_GB.UTF-8"}}).utf8);
  EXPECT_TRUE(decide(ColorMode::never, true, true, {{"LC_CTYPE", "C.utf8"}, {"LANG", "C"}}).utf8);
  EXPECT_FALSE(
      decide(ColorMode::never, true, true, {{"LC_ALL", "C"}, {"LANG", "en_GB.UTF-8"}}).utf8);
  EXPECT_FALSE(decide(ColorMode::never, true, true, {}).utf8);
}

TEST(Paint, LeavesTextAloneWhenOff) {
  EXPECT_EQ(paint("x", Color::red, false), "x");
  EXPECT_EQ(paint("x", Color::red, true), "\x1b[31mx\x1b[0m");
  EXPECT_EQ(paint("", Color::red, true), "");
}

}  // namespace
}  // namespace gantry::cli
