#include "simulate/etc/etc_generator.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace gantry::simulate {
namespace {

using ::testing::HasSubstr;

TEST(EtcGenerator, EveryClassHasItsName) {
  const auto all = all_etc_classes();
  EXPECT_EQ(all.size(), 12U);
  for (const EtcClass& etc_class : all) EXPECT_EQ(parse_class(class_name(etc_class)), etc_class);
  EXPECT_EQ(class_name({EtcConsistency::semi_consistent, false, true}), "u_s_lohi");
  const auto unknown = parse_class("u_c_hihi.0");
  ASSERT_FALSE(unknown);
  EXPECT_THAT(unknown.error().hint, HasSubstr("u_i_lolo"));
}

TEST(EtcGenerator, TimesLieInTheRangesOfTheirClass) {
  for (const EtcClass& etc_class : all_etc_classes()) {
    const auto matrix = generate_etc(etc_class, 512, 16, 1);
    const double most =
        (etc_class.high_tasks ? 3000.0 : 100.0) * (etc_class.high_machines ? 1000.0 : 10.0);
    const auto [least, largest] = std::minmax_element(matrix.times().begin(), matrix.times().end());
    EXPECT_GE(*least, 1) << class_name(etc_class);
    EXPECT_LT(*largest, most) << class_name(etc_class);
    // With 8192 draws the largest product is above half of the range.
    EXPECT_GT(*largest, most / 2) << class_name(etc_class);
  }
}

bool every_row_rises(const EtcMatrix& matrix, std::size_t first, std::size_t step) {
  for (std::size_t task = 0; task < matrix.tasks(); ++task)
    for (std::size_t machine = first + step; machine < matrix.machines(); machine += step)
      if (matrix.at(task, machine) < matrix.at(task, machine - step)) return false;
  return true;
}

TEST(EtcGenerator, ConsistencyIsAnOrderOfTheMachines) {
  const auto consistent = generate_etc({EtcConsistency::consistent, true, true}, 64, 16, 1);
  EXPECT_TRUE(every_row_rises(consistent, 0, 1));
  const auto semi = generate_etc({EtcConsistency::semi_consistent, true, true}, 64, 16, 1);
  EXPECT_TRUE(every_row_rises(semi, 0, 2));
  EXPECT_FALSE(every_row_rises(semi, 1, 2));
  const auto inconsistent = generate_etc({EtcConsistency::inconsistent, true, true}, 64, 16, 1);
  EXPECT_FALSE(every_row_rises(inconsistent, 0, 2));
  EXPECT_FALSE(every_row_rises(inconsistent, 1, 2));
}

TEST(EtcGenerator, TheSeedDecides) {
  const auto times = [](std::uint64_t seed) {
    const auto matrix = generate_etc({}, 3, 2, seed);
    return std::vector<double>(matrix.times().begin(), matrix.times().end());
  };
  EXPECT_EQ(times(7), times(7));
  EXPECT_NE(times(7), times(8));
}

}  // namespace
}  // namespace gantry::simulate
