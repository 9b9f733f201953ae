#include "cli/command_line.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "cli/terminal/display_text.hpp"
#include "completion_scripts.hpp"

namespace gantry::cli {
namespace {

using testing::HasSubstr;

Error error_of(const std::vector<std::string>& words) {
  CommandLine line;
  auto parsed = line.parse(words);
  EXPECT_FALSE(parsed) << words.front();
  return parsed ? Error{} : parsed.error();
}

TEST(CommandLine, CommandsGetTheirAction) {
  for (const char* name :
       {"status", "tasks", "log", "results", "cancel", "retry", "runs", "help"}) {
    CommandLine line;
    EXPECT_TRUE(line.parse({name})) << name;
    EXPECT_TRUE(line.action()) << name;
  }
  CommandLine nothing;
  EXPECT_TRUE(nothing.parse({}));
  EXPECT_FALSE(nothing.action());
}

TEST(CommandLine, RunLeavesTheCommandAlone) {
  CommandLine line;
  ASSERT_TRUE(line.parse(
      {"--state", "run", "run", "-j4", "--", "make", "-j", "8", "--help", "--json", ":::", "a"}));
  EXPECT_EQ(line.globals().state, "run");
  CommandLine unmarked;
  ASSERT_TRUE(unmarked.parse({"run", "--state", "dir", "ls", "--version", "{}"}));
  EXPECT_EQ(unmarked.globals().state, "dir");
  EXPECT_FALSE(unmarked.globals().version);
}

TEST(CommandLine, GlobalOptionsMayFollowTheCommand) {
  CommandLine line;
  ASSERT_TRUE(line.parse({"status", "3", "--state", "dir", "--color", "never"}));
  EXPECT_EQ(line.globals().state, "dir");
  EXPECT_EQ(line.globals().color, "never");
}

TEST(CommandLine, SuggestsWhatWasMeant) {
  EXPECT_THAT(error_of({"staus"}).hint, HasSubstr("'status'"));
  EXPECT_THAT(error_of({"tasks", "--faild"}).hint, HasSubstr("'--failed'"));
  EXPECT_THAT(error_of({"run", "--frsh", "sweep.yaml"}).hint, HasSubstr("'--fresh'"));
  EXPECT_THAT(error_of({"sweep.yaml"}).hint, HasSubstr("gantry run sweep.yaml"));
  EXPECT_THAT(error_of({"tasks", "1", "2"}).message, HasSubstr("one word too many"));
  for (const auto& words : std::vector<std::vector<std::string>>{{"staus"},
                                                                 {"tasks", "--faild"},
                                                                 {"run", "-j", "x", "ls"},
                                                                 {"run", "-j", "0", "ls"},
                                                                 {"results", "--plot", "a"},
                                                                 {"results", "--format", "xml"},
                                                                 {"completion", "fish"},
                                                                 {"completion"},
                                                                 {"explain"},
                                                                 {"retry", "3", "--failed"}})
    EXPECT_EQ(error_of(words).code, ErrorCode::usage) << words.back();
}

TEST(CommandLine, AnArgumentMayBeNamedLikeACommand) {
  CommandLine line;
  ASSERT_TRUE(line.parse({"simulate", "forecasts", "x.csv", "log"}));
  ASSERT_EQ(line.app().get_subcommands().size(), 1U);
  EXPECT_EQ(line.app().get_subcommands()[0]->get_name(), "simulate");
}

TEST(CommandLine, HelpFitsATerminalAndHasExamples) {
  const CommandLine declared;
  for (const CLI::App* command :
       declared.app().get_subcommands([](const CLI::App*) { return true; })) {
    CommandLine line;
    const auto help = line.parse({command->get_name(), "--help"});
    ASSERT_TRUE(help && *help) << command->get_name();
    EXPECT_THAT(**help, HasSubstr("Usage: gantry " + command->get_name()));
    if (command->get_name() != "help") {
      EXPECT_THAT(**help, HasSubstr("Examples:"));
    }
    std::istringstream text(**help);
    for (std::string one; std::getline(text, one);) EXPECT_LE(display_width(one), 80U) << one;
  }
}

TEST(Completion, KnowsEveryCommandAndOption) {
  const CommandLine declared;
  for (const CLI::App* command :
       declared.app().get_subcommands([](const CLI::App*) { return true; })) {
    EXPECT_THAT(kBashCompletion, HasSubstr(command->get_name()));
    EXPECT_THAT(kZshCompletion, HasSubstr("'" + command->get_name() + ":"));
    for (const CLI::Option* option : command->get_options())
      for (const auto& name : option->get_lnames()) {
        EXPECT_THAT(kBashCompletion, HasSubstr("--" + name)) << command->get_name();
        EXPECT_THAT(kZshCompletion, HasSubstr("--" + name)) << command->get_name();
      }
  }
}

}  // namespace
}  // namespace gantry::cli
