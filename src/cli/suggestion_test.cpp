#include "cli/suggestion.hpp"

#include <gtest/gtest.h>

namespace gantry::cli {
namespace {

TEST(Nearest, FindsTypingMistakes) {
  const std::vector<std::string> commands{"run", "status", "tasks", "results", "retry"};
  EXPECT_EQ(nearest("staus", commands), "status");
  EXPECT_EQ(nearest("sttaus", commands), "status");
  EXPECT_EQ(nearest("result", commands), "results");
  EXPECT_EQ(nearest("rnu", commands), "run");
  EXPECT_EQ(nearest("frobnicate", commands), "");
  EXPECT_EQ(nearest("", commands), "");
  EXPECT_EQ(nearest(std::string(100000, 'x'), commands), "");
}

}  // namespace
}  // namespace gantry::cli
