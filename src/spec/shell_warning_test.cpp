#include "spec/shell_warning.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "spec/spec.hpp"

namespace gantry::spec {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<std::string> warnings(const std::vector<std::string>& words) {
  auto loaded = parse_one_liner(words, "/", {});
  EXPECT_TRUE(loaded) << (loaded ? "" : loaded.error().message);
  return loaded ? loaded->warnings : std::vector<std::string>{};
}

TEST(ShellWarning, ValuesThatTheShellWouldRead) {
  EXPECT_THAT(warnings({"sh", "-c", "echo {x}", ":::", "x=", "a b"}),
              ElementsAre(HasSubstr("\"$GANTRY_PARAM_x\"")));
  EXPECT_THAT(warnings({"/bin/bash", "-ec", "echo {}", ":::", "$(id)"}),
              ElementsAre(HasSubstr("'arg1'")));
  EXPECT_THAT(warnings({"bash", "-e", "-c", "echo {1/.} {y}", ":::", "a;b", ":::", "y=1"}),
              ElementsAre(HasSubstr("'arg1'")));
}

TEST(ShellWarning, BehindWrappersToo) {
  EXPECT_THAT(warnings({"env", "X=1", "bash", "-c", "echo {x}", ":::", "x=", "a b"}),
              ElementsAre(HasSubstr("\"$GANTRY_PARAM_x\"")));
  EXPECT_THAT(warnings({"nice", "-n", "5", "sh", "-c", "echo {x}", ":::", "x=", "a b"}),
              ElementsAre(HasSubstr("'x'")));
}

TEST(ShellWarning, AShellInsideTheShell) {
  const auto of_command = [](const std::string& command) {
    auto loaded = parse_sweep(
        "shell: true\ncommand: " + command + "\nparameters: {x: ['a b', c]}\n", "f", "/");
    EXPECT_TRUE(loaded) << (loaded ? "" : loaded.error().message);
    return loaded ? loaded->warnings : std::vector<std::string>{};
  };
  EXPECT_THAT(of_command("true && sh -c \"echo {x}\""),
              ElementsAre(HasSubstr("the shell inside this command reads the values of 'x'")));
  EXPECT_THAT(of_command("A=1 timeout 5 bash -c 'echo {x}'"), ElementsAre(HasSubstr("'x'")));
  EXPECT_THAT(of_command("eval \"echo {x}\""), ElementsAre(HasSubstr("'x'")));
  EXPECT_THAT(of_command("echo {x} | sh -c 'cat'"), IsEmpty());
  EXPECT_THAT(of_command("sh -c 'echo \"$1\"' - {x}"), IsEmpty());
}

TEST(ShellWarning, NotWhereNothingCanHappen) {
  EXPECT_THAT(warnings({"sh", "-c", "exit {x}", ":::", "x=1..5"}), IsEmpty());
  EXPECT_THAT(warnings({"sh", "-c", "echo {}", ":::", "plain", "words-1.5/too"}), IsEmpty());
  EXPECT_THAT(warnings({"sh", "-c", "echo $0", "{}", ":::", "a b"}), IsEmpty());
  EXPECT_THAT(warnings({"sh", "-c", "{}", ":::", "echo whole; echo commands"}), IsEmpty());
  EXPECT_THAT(warnings({"sh", "script", "{}", ":::", "a b"}), IsEmpty());
  EXPECT_THAT(warnings({"echo", "-c", "{}", ":::", "a b"}), IsEmpty());
}

TEST(ShellWarning, WordsThatAreMeantForAShell) {
  for (const std::string word : {"|", ">", "&&", ";"})
    EXPECT_THAT(warnings({"echo {} " + (word == ";" ? "';'" : word) + " wc", ":::", "a"}),
                ElementsAre(HasSubstr("--shell")))
        << word;
  EXPECT_THAT(warnings({"--shell", "--", "echo", "{}", "|", "wc", ":::", "a"}), IsEmpty());
  EXPECT_THAT(warnings({"sh", "-c", "echo {} | wc", ":::", "a"}), IsEmpty());
  EXPECT_THAT(warnings({"grep", "a|b", "{}", ":::", "a"}), IsEmpty());
}

TEST(ShellWarning, AParameterReadFromTheEnvironmentIsUsed) {
  EXPECT_THAT(warnings({"sh", "-c", "echo \"$GANTRY_PARAM_i\"", ":::", "i=1..3"}), IsEmpty());
  EXPECT_THAT(warnings({"sh", "-c", "echo ${{GANTRY_PARAM_i}}", ":::", "i=1..3"}), IsEmpty());
  EXPECT_THAT(warnings({"sh", "-c", "echo $GANTRY_PARAM_ij", ":::", "i=1..3"}),
              ElementsAre(HasSubstr("'i=1..3' is taken as one value")));
}

TEST(ShellWarning, ADerivedValueMayStandInTheTableAlone) {
  auto loaded = parse_sweep("command: echo {x}\nparameters: {x: [1, 2]}\nderived: {twice: 2 * x}\n",
                            "f", "/");
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_THAT(loaded->warnings, IsEmpty());
}

}  // namespace
}  // namespace gantry::spec
