#include "cli/commands/run_words.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gantry::cli {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

RunWords split(const std::vector<std::string>& words) {
  return split_run_words(
      words, [](std::string_view option) { return option == "-j" || option == "--jobs"; });
}

TEST(RunWords, TheCommandKeepsItsOwnOptions) {
  const auto words = split({"-j", "4", "--fresh", "make", "-j", "8", "--", "{}", ":::", "a"});
  EXPECT_THAT(words.options, ElementsAre("-j", "4", "--fresh"));
  EXPECT_THAT(words.command, ElementsAre("make", "-j", "8", "--", "{}", ":::", "a"));
  EXPECT_FALSE(words.marked);
}

TEST(RunWords, AMarkEndsOurOptions) {
  const auto words = split({"-j4", "--", "-weird.yaml", "-j", "8"});
  EXPECT_THAT(words.options, ElementsAre("-j4"));
  EXPECT_THAT(words.command, ElementsAre("-weird.yaml", "-j", "8"));
  EXPECT_TRUE(words.marked);
}

TEST(RunWords, OptionsMayFollowASweepFile) {
  const auto words = split({"--fresh", "sweep.yaml", "-j", "4"});
  EXPECT_THAT(words.options, ElementsAre("--fresh", "-j", "4"));
  EXPECT_THAT(words.command, ElementsAre("sweep.yaml"));
}

TEST(RunWords, WhatIsTooMuchAfterASweepFileIsKeptForTheError) {
  EXPECT_THAT(split({"sweep.yml", "extra", "-j"}).command, ElementsAre("sweep.yml", "extra", "-j"));
}

TEST(RunWords, ManySweepFilesAreKeptForTheError) {
  std::vector<std::string> files(50'000, "sweep.yaml");
  files.emplace_back("--fresh");
  const auto words = split(files);
  EXPECT_EQ(words.command.size(), 50'000U);
  EXPECT_THAT(words.options, ElementsAre("--fresh"));
}

TEST(RunWords, NoCommand) {
  EXPECT_THAT(split({"-j", "4"}).command, IsEmpty());
  EXPECT_THAT(split({"-j"}).options, ElementsAre("-j"));
  EXPECT_THAT(split({}).command, IsEmpty());
  EXPECT_THAT(split({"-"}).command, ElementsAre("-"));
}

}  // namespace
}  // namespace gantry::cli
