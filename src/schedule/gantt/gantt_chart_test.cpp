#include "schedule/gantt/gantt_chart.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "schedule/steady_estimates.hpp"

namespace gantry::schedule {
namespace {

using testing::ElementsAre;
using What = PlannedTransfer::What;

MATCHER_P3(Is, start, end, returned, "") {
  return arg.start == start && arg.end == end && arg.returned == returned;
}

/// One site behind a link of 10 bytes a second with two hosts, of speed 1 and 2. File 0 takes 10 s,
/// file 1 takes 20 s, private inputs 1 s, an output 2 s.
struct ChartWorld {
  Situation situation{
      .files = {{100}, {200}},
      .classes = {{.waiting = 9, .work = 60, .files = {0}, .private_bytes = 10, .output_bytes = 20},
                  {.waiting = 9, .work = 60, .files = {0, 1}, .private_bytes = 10},
                  {.waiting = 9, .work = 60}},
      .sites = {{.file_from = {kInfinite, kInfinite}}},
      .hosts = {{.site = 0}, {.site = 0}}};
  SteadyEstimates estimates{{1, 2}, {{0, 10}}};

  [[nodiscard]] GanttChart chart(const ChartOptions& options = {}) const {
    return {situation, estimates, options};
  }
};

TEST(GanttChart, FilesThenComputationThenOutput) {
  const ChartWorld world;
  GanttChart chart = world.chart({.private_inputs = PrivateInputs::queued});
  // 10 s for file 0 and 1 s for the private inputs, 60 or 30 s of work, 2 s for the output.
  EXPECT_THAT(chart.fit(0, 0), Is(11, 71, 73));
  EXPECT_THAT(chart.fit(0, 1), Is(11, 41, 43));
  // 10 + 20 + 1 s for its inputs, no output.
  EXPECT_THAT(chart.fit(1, 1), Is(31, 61, 61));
  // Neither inputs nor output.
  EXPECT_THAT(chart.fit(2, 0), Is(0, 60, 60));

  EXPECT_THAT(chart.assign(0, 1), Is(11, 41, 43));
  EXPECT_EQ(chart.host_free(1), 41);
  EXPECT_TRUE(chart.has_file(0, 0));
  EXPECT_FALSE(chart.has_file(0, 1));
  // The file is there from 10 on; only the private inputs are sent, 11-12.
  EXPECT_THAT(chart.fit(0, 0), Is(12, 72, 74));
  // The host is taken until 41.
  EXPECT_THAT(chart.fit(0, 1), Is(41, 71, 73));

  const GanttPlan plan = std::move(chart).plan();
  EXPECT_THAT(plan.tasks, ElementsAre(PlannedTask{0, 1, 11, 41, 43}));
  EXPECT_THAT(plan.transfers, ElementsAre(PlannedTransfer{What::shared_file, 0, 0, 0, 10},
                                          PlannedTransfer{What::private_inputs, 0, 0, 10, 11},
                                          PlannedTransfer{What::output, 0, 0, 41, 43}));
}

TEST(GanttChart, WhatIsUnderWayIsKept) {
  ChartWorld world;
  world.situation.sites[0].inbound.free_from = 4;  // file 0 arrives then
  world.situation.sites[0].file_from = {4, 0};
  world.situation.hosts[1].free_from = 25;
  GanttChart chart = world.chart({.private_inputs = PrivateInputs::queued});
  EXPECT_THAT(chart.fit(1, 0), Is(5, 65, 65));   // private inputs 4-5
  EXPECT_THAT(chart.fit(1, 1), Is(25, 55, 55));  // the host is taken
}

TEST(GanttChart, AnOutputTakesTheFirstGap) {
  ChartWorld world;
  world.situation.sites[0].file_from = {0, kInfinite};
  GanttChart chart = world.chart({.private_inputs = PrivateInputs::queued});
  EXPECT_THAT(chart.assign(0, 1), Is(1, 31, 33));
  EXPECT_THAT(chart.assign(0, 0), Is(2, 62, 64));
  EXPECT_THAT(chart.assign(0, 1), Is(31, 61, 66));  // 61-63 is too late: 62-64 is taken
  // An input is appended to the inputs, the last of which ended at 3, in the first gap there: file
  // 1 fits in 3-23, before all outputs.
  EXPECT_THAT(chart.assign(1, 1), Is(61, 91, 91));
  const GanttPlan plan = std::move(chart).plan();
  EXPECT_THAT(plan.transfers, ElementsAre(PlannedTransfer{What::private_inputs, 0, 0, 0, 1},
                                          PlannedTransfer{What::private_inputs, 1, 0, 1, 2},
                                          PlannedTransfer{What::private_inputs, 2, 0, 2, 3},
                                          PlannedTransfer{What::shared_file, 1, 0, 3, 23},
                                          PlannedTransfer{What::private_inputs, 3, 0, 23, 24},
                                          PlannedTransfer{What::output, 0, 0, 31, 33},
                                          PlannedTransfer{What::output, 1, 0, 62, 64},
                                          PlannedTransfer{What::output, 2, 0, 64, 66}));
}

TEST(GanttChart, AnOutputMayLeaveTheLinkToInputs) {
  ChartWorld world;
  world.situation.sites[0].file_from = {0, 0};
  GanttChart not_charted =
      world.chart({.outputs_in_chart = false, .private_inputs = PrivateInputs::queued});
  EXPECT_THAT(not_charted.assign(0, 1), Is(1, 31, 33));
  EXPECT_THAT(not_charted.assign(0, 0), Is(2, 62, 64));
  EXPECT_THAT(not_charted.assign(0, 1), Is(31, 61, 63));  // nobody is in its way
  EXPECT_EQ(std::move(not_charted).plan().transfers.size(), 3U);

  world.situation.sites[0].same_stream = false;
  world.situation.sites[0].outbound.free_from = 40;
  GanttChart two_ways = world.chart({.private_inputs = PrivateInputs::queued});
  EXPECT_THAT(two_ways.assign(0, 1), Is(1, 31, 42));  // 40-42: what is under way is kept
  EXPECT_THAT(two_ways.assign(0, 0), Is(2, 62, 64));
}

TEST(GanttChart, QueuedPrivateInputsWaitBehindALongFile) {
  ChartWorld world;
  world.situation.sites[0].file_from = {0, kInfinite};
  GanttChart chart = world.chart({.private_inputs = PrivateInputs::queued});
  EXPECT_THAT(chart.assign(1, 1), Is(21, 51, 51));  // file 1: 0-20, private inputs: 20-21
  EXPECT_THAT(chart.fit(0, 0), Is(22, 82, 84));
}

TEST(GanttChart, PrivateInputsInTheirOwnStreamWaitForEachOtherOnly) {
  ChartWorld world;
  world.situation.sites[0].file_from = {0, kInfinite};
  GanttChart chart = world.chart({.private_inputs = PrivateInputs::own_stream});
  EXPECT_THAT(chart.assign(1, 1), Is(20, 50, 50));  // private inputs 0-1
  EXPECT_THAT(chart.assign(0, 0), Is(2, 62, 64));   // 1-2
  EXPECT_THAT(chart.fit(0, 0), Is(62, 122, 124));
}

TEST(GanttChart, WhatNeverEndsIsNotFit) {
  ChartWorld world;
  world.estimates.speeds[0] = 0;
  EXPECT_EQ(world.chart().fit(2, 0).returned, kInfinite);
  world.estimates.links[0].bandwidth = 0;
  EXPECT_EQ(world.chart().fit(0, 1).returned, kInfinite);
  EXPECT_EQ(world.chart().fit(2, 1).returned, 30);
  world.situation.hosts[1].free_from = kInfinite;
  EXPECT_EQ(world.chart().fit(2, 1).returned, kInfinite);
}

}  // namespace
}  // namespace gantry::schedule
