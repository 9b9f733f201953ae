#include "simulate/etc/etc_matrix.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace gantry::simulate {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(EtcMatrix, HoldsATimeForEachTaskAndMachine) {
  const auto matrix = EtcMatrix::make(2, 3, {1, 2, 3, 4, 5, 6});
  ASSERT_TRUE(matrix) << matrix.error().message;
  EXPECT_EQ(matrix->tasks(), 2U);
  EXPECT_EQ(matrix->machines(), 3U);
  EXPECT_EQ(matrix->at(1, 0), 4);
  EXPECT_THAT(matrix->row(1), ElementsAre(4, 5, 6));
}

TEST(EtcMatrix, TheBusiestMachineIsTheMakespan) {
  const auto matrix = EtcMatrix::make(3, 2, {1, 9, 2, 9, 9, 4}).value();
  EXPECT_THAT(machine_loads(matrix, {0, 0, 1}), ElementsAre(3, 4));
  EXPECT_EQ(makespan(matrix, {0, 0, 1}), 4);
  EXPECT_EQ(makespan(matrix, {0, 0, 0}), 12);
}

TEST(EtcMatrix, RefusesWhatIsNoMatrix) {
  const auto message = [](std::size_t tasks, std::size_t machines, std::vector<double> times) {
    const auto matrix = EtcMatrix::make(tasks, machines, std::move(times));
    return matrix ? std::string("accepted") : matrix.error().message;
  };
  EXPECT_THAT(message(0, 3, {}), HasSubstr("at least one of each"));
  EXPECT_THAT(message(3, 0, {}), HasSubstr("at least one of each"));
  EXPECT_THAT(message(2, 2, {1, 2, 3}), HasSubstr("have 4 times, not 3"));
  EXPECT_THAT(message(1, kMaxEtcMachines + 1, {}), HasSubstr("too many"));
  EXPECT_THAT(message(std::numeric_limits<std::size_t>::max(), 2, {}), HasSubstr("too many"));
  EXPECT_EQ(message(1, 2, {1, std::numeric_limits<double>::quiet_NaN()}),
            "a time must be a number");
  EXPECT_EQ(message(1, 2, {1, -1}), "a time must not be negative");
  EXPECT_EQ(message(1, 2, {1, std::numeric_limits<double>::infinity()}),
            "a time must not be larger than 1e15");
  EXPECT_EQ(message(1, 2, {1, 0}), "accepted");
}

}  // namespace
}  // namespace gantry::simulate
