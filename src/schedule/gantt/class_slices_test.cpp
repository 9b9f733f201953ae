#include "schedule/gantt/class_slices.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gantry::schedule {
namespace {

using testing::ElementsAre;
using testing::UnorderedElementsAre;

TEST(ClassSlices, ClassesThatDifferInTheirWorkOnlyAreTogetherTheCheapestFirst) {
  const std::vector<TaskClass> classes{
      {.waiting = 1, .work = 5, .files = {0}},
      {.waiting = 1, .work = 3, .files = {0}},
      {.waiting = 1, .work = 3, .files = {0}},
      {.waiting = 1, .work = 3, .files = {1}},
      {.waiting = 1, .work = 3, .files = {0, 1}},
      {.waiting = 1, .work = 3, .files = {0}, .private_bytes = 1},
      {.waiting = 1, .work = 3, .files = {0}, .output_bytes = 1},
      {.waiting = 0, .work = 1, .files = {0}},  // nothing of it waits
  };
  const std::vector<std::uint32_t> ranks{0, 2, 1, 3, 4, 5, 6, 7};
  EXPECT_THAT(class_slices(classes, ranks),
              UnorderedElementsAre(ElementsAre(2, 1, 0), ElementsAre(3), ElementsAre(4),
                                   ElementsAre(5), ElementsAre(6)));
}

}  // namespace
}  // namespace gantry::schedule
