#include "cli/commands/result_rows.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gantry::cli {
namespace {

using testing::ElementsAre;

std::vector<std::string> write(ResultFormat format, bool with_state = false) {
  store::RunRecord run;
  run.parameter_names = {"seed", "g"};
  run.result_names = {"energy"};
  std::vector<std::string> lines;
  ResultWriter writer(format, run, with_state, {},
                      [&](std::string_view line) { lines.emplace_back(line); });
  store::TaskRow row;
  row.task = TaskId{1};
  row.parameters = {{"seed", "7"}, {"g", "a,\"b\"\nc"}};
  row.results = {{"energy", "-1.50"}};
  writer.add(row);
  store::TaskRow failed;
  failed.task = TaskId{12};
  failed.cause = FailureCause::exit_code;
  failed.parameters = {{"g", "x"}, {"seed", "8"}};
  writer.add(failed);
  writer.finish();
  return lines;
}

TEST(ResultRows, CsvFollowsRfc4180) {
  EXPECT_THAT(write(ResultFormat::csv), ElementsAre("task,seed,g,energy",            //
                                                    "1,7,\"a,\"\"b\"\"\nc\",-1.50",  //
                                                    "12,8,x,"));
}

TEST(ResultRows, JsonKeepsNumbersAsPrinted) {
  EXPECT_THAT(
      write(ResultFormat::jsonl),
      ElementsAre(R"({"task":1,"state":"done","parameters":{"seed":7,"g":"a,\"b\"\nc"},)"
                  R"("results":{"energy":-1.50}})",
                  R"({"task":12,"state":"failed","parameters":{"g":"x","seed":8},"results":{}})"));
}

TEST(ResultRows, TableHasAStateWhenAsked) {
  EXPECT_THAT(write(ResultFormat::table, true),
              ElementsAre("task  state   seed  g         energy",     //
                          "   1  done       7  a,\"b\"\\nc   -1.50",  //
                          "  12  failed     8  x"));
}

}  // namespace
}  // namespace gantry::cli
