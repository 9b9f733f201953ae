#include "simulate/plan_warnings.hpp"

#include <gmock/gmock.h>

namespace gantry::simulate {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::uint64_t kGiB = 1ULL << 30;

/// Two slots and 4 GiB; eight slots and 2 GiB.
Grid two_kinds() {
  Grid grid;
  grid.sites = {{.name = "home", .hosts = {{.name = "a", .slots = 2, .memory = 4 * kGiB}}},
                {.name = "lab", .hosts = {{.name = "b", .slots = 8, .memory = 2 * kGiB}}}};
  return grid;
}

PlannedTasks asking(Resources resources) {
  PlannedTasks study;
  study.needs = {{{}, TaskId(1)}, {resources, TaskId(7)}};
  return study;
}

TEST(PlanWarnings, NoneWhenATaskOfOneCoreFitsSomewhere) {
  EXPECT_THAT(plan_warnings(two_kinds(), asking({.memory = 4 * kGiB})), IsEmpty());
}

TEST(PlanWarnings, SeveralCores) {
  EXPECT_THAT(plan_warnings(two_kinds(), asking({.cores = 8})),
              ElementsAre("some tasks ask for several cores; the plan gives each task one slot"));
}

TEST(PlanWarnings, ATaskThatFitsNowhere) {
  EXPECT_THAT(
      plan_warnings(two_kinds(), asking({.cores = 9})),
      ElementsAre("task 7 needs 9 cores, the largest host has 8; no run could start it, the "
                  "plan gives it one slot"));
  EXPECT_THAT(plan_warnings(two_kinds(), asking({.memory = 5 * kGiB})),
              ElementsAre("task 7 needs 5 GiB of memory, the largest host has 4 GiB; no run could "
                          "start it, the plan gives it one slot"));
  EXPECT_THAT(
      plan_warnings(two_kinds(), asking({.cores = 3, .memory = 3 * kGiB})),
      ElementsAre("task 7 needs 3 cores and 3 GiB of memory, no host has both; no run could "
                  "start it, the plan gives it one slot"));
}

TEST(PlanWarnings, MemoryThatIsNotDeclaredIsNoLimit) {
  Grid grid = two_kinds();
  grid.sites[1].hosts[0].memory = 0;
  EXPECT_THAT(plan_warnings(grid, asking({.memory = 5000 * kGiB})), IsEmpty());
}

TEST(PlanWarnings, SitesThatCanRunNothing) {
  Grid grid = two_kinds();
  PlannedTasks study;
  study.needs = {{{.memory = 3 * kGiB}, TaskId(1)}};
  EXPECT_THAT(plan_warnings(grid, study),
              ElementsAre("no task fits on a host of site 'lab': not enough cores or memory; the "
                          "plan uses them all the same"));
  for (const char* name : {"b", "c", "d", "e"}) {
    grid.sites.push_back(grid.sites[1]);
    grid.sites.back().name = name;
  }
  EXPECT_THAT(plan_warnings(grid, study),
              ElementsAre(testing::StartsWith(
                  "no task fits on a host of sites 'lab', 'b', 'c' and 2 more: ")));
}

TEST(PlanWarnings, ADepotWithRoomForTheFilesOfNoTask) {
  Grid grid = two_kinds();
  PlannedTasks study = asking({});
  study.tasks.file_bytes = {100, 200};
  study.tasks.tasks = {{.files = {FileId(0), FileId(1)}}, {.files = {FileId(1)}}};
  grid.sites[0].depot = 1;  // home has the files anyway
  grid.sites[1].depot = 200;
  EXPECT_THAT(plan_warnings(grid, study), IsEmpty());
  grid.sites[1].depot = 199;
  EXPECT_THAT(plan_warnings(grid, study),
              ElementsAre("no task can run at site 'lab': there is no room in the depot for the "
                          "shared files of any"));
}

}  // namespace
}  // namespace gantry::simulate
