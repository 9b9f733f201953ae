#include "agent/shell_command.hpp"

#include <gtest/gtest.h>

namespace gantry::agent {
namespace {

TEST(ShellCommand, OneThatHangsEndsWithWhoAskedForIt) {
  // Else this would take a day.
  ShellCommand command;
  command.start("sleep 86400", ShellCommand::Clock::now());
  EXPECT_TRUE(command.is_busy());
}

}  // namespace
}  // namespace gantry::agent
