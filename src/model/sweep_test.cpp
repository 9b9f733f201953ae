#include "model/sweep.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/sweep_definition.hpp"

namespace gantry {
namespace {

using ::testing::HasSubstr;

SweepDefinition definition(std::vector<std::string> command) {
  SweepDefinition result;
  result.name = "t";
  result.base_dir = "/base";
  for (auto& word : command) result.command.push_back({std::move(word), {}, false});
  return result;
}

std::string error(SweepDefinition definition) {
  const auto sweep = Sweep::build(std::move(definition));
  return sweep ? "no error" : sweep.error().message;
}

TEST(Sweep, TheMostTasksNeedNoMemoryOfTheirOwn) {
  auto wanted = definition({"e", "{a}", "{#}"});
  wanted.parameters.push_back({"a", **ParameterValues::range("1..100000000")});
  const auto sweep = Sweep::build(std::move(wanted));
  ASSERT_TRUE(sweep) << sweep.error().message;
  EXPECT_EQ(sweep->size(), 100'000'000U);
  EXPECT_THAT(sweep->task(TaskId(100'000'000U)).argv,
              ::testing::ElementsAre("e", "100000000", "100000000"));
}

TEST(Sweep, ATaskDoesNotDependOnWhatWasAskedBefore) {
  auto wanted = definition({"e", "{a}{b}{d}"});
  wanted.parameters.push_back({"a", **ParameterValues::range("1..7")});
  wanted.parameters.push_back({"b", ParameterValues::list({"x", "y", "z"})});
  wanted.derived.push_back({"d", {"a * 10", {}, false}});
  wanted.when = SourceText{"b != 'y'", {}, false};
  const auto sweep = Sweep::build(wanted);
  ASSERT_TRUE(sweep) << sweep.error().message;
  ASSERT_EQ(sweep->size(), 14U);
  Task reused;
  for (std::uint32_t step = 1; step < 14; ++step) {
    for (std::uint32_t i = 0; i < 14; ++i) {
      const TaskId id(i * step % 14 + 1);
      const auto fresh = Sweep::build(wanted);
      sweep->fill_task(id, reused);
      EXPECT_EQ(reused.argv, fresh->task(id).argv);
      EXPECT_EQ(reused.parameters, fresh->parameters(id));
    }
  }
}

TEST(Sweep, AnArgumentThatGrowsTooLongIsRefused) {
  auto wanted = definition({"e", "{a}{a}"});
  wanted.parameters.push_back({"a", ParameterValues::list({"short", std::string(70'000, 'x')})});
  EXPECT_THAT(error(wanted), HasSubstr("an argument of task 2 would be 140000 bytes long"));
  wanted.command[1].text = "{a}";
  EXPECT_EQ(error(wanted), "no error");
  wanted.environment.push_back({"V", {"{a}{a}", {}, false}});
  EXPECT_THAT(error(wanted), HasSubstr("the variable 'V' of task 2"));
  // In a shell command a quote becomes four characters: 40,000 of them are too long, other text is
  // not.
  auto shell = definition({"echo {a}"});
  shell.shell = true;
  shell.parameters.push_back({"a", ParameterValues::list({std::string(40'000, '\'')})});
  EXPECT_THAT(error(shell), HasSubstr("would be 160007 bytes long"));
  shell.parameters[0].values = ParameterValues::list({std::string(100'000, 'x')});
  EXPECT_EQ(error(shell), "no error");
}

TEST(Sweep, OutputsThatMeetAreFoundAlsoAcrossRules) {
  auto wanted = definition({"e"});
  wanted.parameters.push_back({"a", ParameterValues::list({"1", "2"})});
  wanted.outputs = {{"x{a}", {}, false}, {"x2", {}, false}};
  EXPECT_THAT(error(wanted), HasSubstr("tasks 1 and 2 would both write /base/x2"));
  wanted.outputs = {{"x{a}", {}, false}, {"y{a}", {}, false}};
  EXPECT_EQ(error(wanted), "no error");
  wanted.outputs = {{"x", {}, false}};
  wanted.workdir = {"run{a}", {}, false};
  EXPECT_EQ(error(wanted), "no error");
  wanted.parameters[0].values = ParameterValues::list({"1", "1"});
  EXPECT_THAT(error(wanted), HasSubstr("tasks 1 and 2 would both write /base/run1/x"));
  wanted.outputs = {{"x{#}", {}, false}};
  EXPECT_EQ(error(wanted), "no error");
}

TEST(Sweep, ResultFilesOfTwoTasksAreNotTheSame) {
  const auto from = [](std::string name, std::string file) {
    ResultDefinition rule;
    rule.name = std::move(name);
    rule.source = ResultDefinition::Source::json;
    rule.file = {std::move(file), {}, false};
    return rule;
  };
  auto wanted = definition({"e"});
  wanted.parameters.push_back({"a", ParameterValues::list({"1", "2"})});
  wanted.results = {from("v", "out.json")};
  EXPECT_THAT(error(wanted), HasSubstr("tasks 1 and 2 would both write /base/out.json"));
  wanted.inputs = {{"./out.json", {}, false}};
  EXPECT_EQ(error(wanted), "no error") << "nobody writes it";
  wanted.inputs.clear();
  wanted.results = {from("v", "out{a}.json"), from("w", "out{a}.json")};
  EXPECT_EQ(error(wanted), "no error") << "two values of one file";
  wanted.outputs = {{"./out{a}.json", {}, false}};
  EXPECT_EQ(error(wanted), "no error") << "an output too";
  wanted.outputs = {{"out2.json", {}, false}};
  EXPECT_THAT(error(wanted), HasSubstr("tasks 1 and 2 would both write /base/out2.json"));
  wanted.outputs.clear();
  wanted.results = {from("v", "out.json")};
  wanted.workdir = {"run{a}", {}, false};
  EXPECT_EQ(error(wanted), "no error");
  wanted.workdir = {};
  wanted.parameters[0].values = ParameterValues::list({"1"});
  EXPECT_EQ(error(wanted), "no error") << "one task";
}

TEST(Sweep, PathsAndPlaceholdersOfItsOwn) {
  auto wanted = definition({"bin/sim", "{gantry_dir}/in", "{gantry_task}"});
  wanted.workdir = {"w{#}", {}, false};
  wanted.inputs = {{"./in/a", {}, false}, {"/abs", {}, false}};
  const auto sweep = Sweep::build(std::move(wanted));
  ASSERT_TRUE(sweep) << sweep.error().message;
  const Task task = sweep->task(TaskId(1));
  EXPECT_THAT(task.argv, ::testing::ElementsAre("/base/bin/sim", "/base/in", "1"));
  EXPECT_EQ(task.workdir, "/base/w1");
  EXPECT_THAT(task.inputs, ::testing::ElementsAre("/base/in/a", "/abs"));
  EXPECT_THAT(sweep->check_inputs().error().message,
              HasSubstr("the input /base/in/a of task 1 is not there"));
}

}  // namespace
}  // namespace gantry
