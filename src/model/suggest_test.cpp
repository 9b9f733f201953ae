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
  EXPECT_EQ(did_you_mean("N", known), "did you mean 'n'?");
  EXPECT_EQ(did_you_mean("", known), "");
  EXPECT_EQ(did_you_mean(std::string(100'000, 'c'), known), "");
}

TEST(Suggest, NoOtherOneOfASeries) {
  const std::vector<std::string> known{"s1", "lab-12", "ab"};
  EXPECT_EQ(did_you_mean("s2", known), "");
  EXPECT_EQ(did_you_mean("lab-13", known), "");
  EXPECT_EQ(did_you_mean("lba-12", known), "did you mean 'lab-12'?");
  EXPECT_EQ(did_you_mean("lab-1", known), "did you mean 'lab-12'?") << "one is missing";
  EXPECT_EQ(did_you_mean("cb", known), "") << "half of it is wrong";
}

}  // namespace
}  // namespace gantry
