#include "actuate/launch/sandbox.hpp"

#include <gmock/gmock.h>

#include <filesystem>

namespace gantry {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

agent::Start start_in(const std::string& workdir) {
  agent::Start start;
  start.argv = {"/home/ada/study/bin/sim", "--mesh=/home/ada/study/m", "/etc/hosts", "1.5"};
  start.workdir = workdir;
  return start;
}

TEST(Sandbox, LooksAsTheStudysFolderDoes) {
  const Sandbox sandbox("/home/ada/study", "/scratch/w/1.2.1");
  agent::Start start = start_in("/home/ada/study/runs/7");
  start.outputs = {"/home/ada/study/out/7.dat"};
  start.collect = {"/home/ada/study/runs/7/energy.txt"};
  const Digest content = hash_bytes("x");
  const auto problem = sandbox.move_into(
      start, {{"/home/ada/study/mesh/a", content, 1, false}, {"/data/big", content, 1, false}});
  EXPECT_FALSE(problem);
  EXPECT_EQ(start.sandbox, "/scratch/w/1.2.1");
  EXPECT_EQ(start.workdir, "/scratch/w/1.2.1/runs/7");
  EXPECT_TRUE(start.make_workdir);
  EXPECT_THAT(start.outputs, ElementsAre("/scratch/w/1.2.1/out/7.dat"));
  EXPECT_THAT(start.collect, ElementsAre("/scratch/w/1.2.1/runs/7/energy.txt"));
  // A word that names a file of the study names it there; others are not ours to read.
  EXPECT_THAT(start.argv, ElementsAre("/scratch/w/1.2.1/bin/sim", "--mesh=/home/ada/study/m",
                                      "/etc/hosts", "1.5"));
  ASSERT_EQ(start.inputs.size(), 1U);  // the other one is expected where it is here
  EXPECT_EQ(start.inputs[0].path, "mesh/a");
  EXPECT_EQ(start.inputs[0].content, content.hex());
}

TEST(Sandbox, TheStudysFolderItselfIsTheSandbox) {
  const Sandbox sandbox("/study", "/w/1");
  agent::Start start = start_in("/study");
  EXPECT_FALSE(sandbox.move_into(start, {}));
  EXPECT_EQ(start.workdir, "/w/1");
}

TEST(Sandbox, WhatLiesOutsideCannotTravel) {
  const Sandbox sandbox("/study", "/w/1");
  agent::Start elsewhere = start_in("/tmp");
  EXPECT_THAT(sandbox.move_into(elsewhere, {}).value_or(""), HasSubstr("its folder /tmp"));
  agent::Start climbs = start_in("/study");
  climbs.outputs = {"/study/../other/x"};
  EXPECT_THAT(sandbox.move_into(climbs, {}).value_or(""), HasSubstr("its output"));
  EXPECT_FALSE(sandbox.relative("/study-two/a"));
}

TEST(Sandbox, APathIsBelowHoweverItIsSpelt) {
  for (const char* base : {"/study", "/study/", "/other/../study"}) {
    const Sandbox sandbox(std::filesystem::path(base).lexically_normal().string(), "/w/1");
    EXPECT_EQ(sandbox.relative("/study/a/b"), "a/b") << base;
    EXPECT_EQ(sandbox.relative("/study//a/./b"), "a/b") << base;
    EXPECT_EQ(sandbox.relative("/study/.hidden"), ".hidden") << base;
    EXPECT_EQ(sandbox.relative("/x/../study/a"), "a") << base;
    EXPECT_EQ(sandbox.relative("/study"), "") << base;
    EXPECT_FALSE(sandbox.relative("/stud")) << base;
    EXPECT_FALSE(sandbox.relative("study/a")) << base;
  }
  EXPECT_EQ(Sandbox("/", "/w/1").relative("/study/a"), "study/a");
}

}  // namespace
}  // namespace gantry
