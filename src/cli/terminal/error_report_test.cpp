#include "cli/terminal/error_report.hpp"

#include <gtest/gtest.h>

namespace gantry::cli {
namespace {

TEST(ErrorText, WrapsMessageAndHint) {
  const Error error{ErrorCode::usage, "sweep.yaml:3:1: unknown key 'comand'",
                    "did you mean 'command'?"};
  EXPECT_EQ(error_text(error, 80, false),
            "gantry: sweep.yaml:3:1: unknown key 'comand'\n"
            "  hint: did you mean 'command'?\n");
  EXPECT_EQ(error_text(error, 30, false),
            "gantry: sweep.yaml:3:1:\n"
            "  unknown key 'comand'\n"
            "  hint: did you mean\n"
            "  'command'?\n");
}

TEST(ErrorText, MakesQuotedControlsVisible) {
  const Error error{ErrorCode::io, "cannot open 'a\x1b[2J'", ""};
  EXPECT_EQ(error_text(error, 80, false), "gantry: cannot open 'a\\x1b[2J'\n");
}

TEST(ExitCode, SeparatesUsageFromInfrastructure) {
  EXPECT_EQ(exit_code_of(ErrorCode::usage), 2);
  for (const auto code :
       {ErrorCode::io, ErrorCode::busy, ErrorCode::corrupt, ErrorCode::version, ErrorCode::peer})
    EXPECT_EQ(exit_code_of(code), 3);
}

}  // namespace
}  // namespace gantry::cli
