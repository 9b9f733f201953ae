#include "model/suggest.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace gantry {
namespace {

TEST(Suggest, TheNearestName) {
  const std::vector<std::string> known{"parameters", "command", "cost", "n"};
  EXPECT_EQ(did_you_mean("parametres", known), "did you mean 'parameters'?");
  EXPECT_EQ(did_you_mean("Command", known), "did you mean 'command'?");
  EXPECT_EQ(did_you_mean("cots", known), "did you mean 'cost'?") << "two letters swapped";
  EXPECT_EQ(did_you_mean("cst", known), "did you mean 'cost'?");
  EXPECT_EQ(did_you_mean("zebra", known), "");
  EXPECT_EQ(did_you_mean("x", known), "") << "one edit away from n, but nothing in common";
  EXPECT_EQ(did_you_mean("", known), "");
  EXPECT_EQ(did_you_mean(std::string(100'000, 'c'), known), "");
}

}  // namespace
}  // namespace gantry
