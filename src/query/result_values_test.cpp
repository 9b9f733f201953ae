#include "query/result_values.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gantry::query {
namespace {

using testing::ElementsAre;

store::RunRecord run() {
  store::RunRecord record;
  record.parameter_names = {"x", "y"};
  record.result_names = {"area", "note"};
  return record;
}

TEST(ResultValues, ComeInTheOrderOfTheRunsColumns) {
  store::TaskRow row;
  row.parameters = {{"y", "2"}, {"x", "1"}};  // an older version of the study had another order
  row.results = {{"note", "good"}};
  std::vector<std::string> values;
  for_each_value(run(), row, [&](const std::string& value) { values.push_back(value); });
  EXPECT_THAT(column_names(run()), ElementsAre("x", "y", "area", "note"));
  EXPECT_THAT(values, ElementsAre("1", "2", "", "good"));
}

TEST(ResultValues, AreFoundByName) {
  store::TaskRow row;
  row.parameters = {{"x", "1"}};
  row.results = {{"area", "3"}};
  EXPECT_EQ(*find_value(row, "area"), "3");
  EXPECT_EQ(*find_value(row.parameters, "x", 7), "1");
  EXPECT_EQ(find_value(row, "y"), nullptr);
}

}  // namespace
}  // namespace gantry::query
