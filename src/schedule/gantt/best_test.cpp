#include "schedule/gantt/best.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "schedule/learned_estimates.hpp"

namespace gantry::schedule {
namespace {

using testing::ElementsAre;

TEST(Best, AFileThatIsGoneIsFetchedThoughTheLastPlanHadIt) {
  constexpr SiteId kFar(1);
  const Host machine{HostId(1), "a", 1, 0, kFar};
  const TaskNeeds first{.files = {FileId(0)}, .cost = 10};
  const TaskNeeds second{.files = {FileId(1)}, .cost = 10};
  const std::deque<std::uint64_t> place{1};
  const std::vector<ReadyClass> classes{{ClassId(1), &first, &place},
                                        {ClassId(2), &second, &place}};
  const std::vector<HostLoad> hosts{{&machine, kFull}};  // busy: only files are sent
  const std::vector<double> file_bytes{100, 100};
  const forecast::RunTimeForecast run_times;
  std::vector<SiteFiles> sites{{.site = kFar, .there = {FileId(0)}}};
  Best strategy({}, std::make_shared<LearnedEstimates>(GridPriors{.links = {{}, {0, 10}}}));
  const auto moves = [&](double after) {
    return strategy
        .plan({TimePoint{} + from_seconds(after), classes, hosts, run_times, 2, file_bytes, sites})
        .moves;
  };
  EXPECT_THAT(moves(1), ElementsAre(MoveFile{FileId(1), kHome, kFar}));
  sites[0].there = {FileId(1)};
  strategy.observe(FileGone{FileId(0), kFar});
  EXPECT_THAT(moves(20), ElementsAre(MoveFile{FileId(0), kHome, kFar}));
}

TEST(Best, ShortTasksAreHandedOutAsByTheWorkQueue) {
  const Host machine{HostId(1), "a", 2, 0, kHome};
  const Host other{HostId(2), "b", 2, 0, kHome, 0.1};
  TaskNeeds needs;
  const std::deque<std::uint64_t> places{1, 2, 3, 4, 5, 6, 7, 8, 9};
  const std::vector<ReadyClass> classes{{ClassId(1), &needs, &places}};
  const std::vector<HostLoad> hosts{{&machine}, {&other}};
  const std::vector<double> file_bytes{100};
  const auto plan_by = [&](Scheduler&& strategy, double each) {
    forecast::RunTimeForecast run_times;
    run_times.observe(1, from_seconds(each));
    return strategy
        .plan({TimePoint{} + from_seconds(1), classes, hosts, run_times, places.size(), file_bytes})
        .starts;
  };
  const auto best = [] { return Best({}, std::make_shared<LearnedEstimates>()); };
  EXPECT_EQ(plan_by(best(), 0.01), plan_by(Workqueue(), 0.01));
  EXPECT_NE(plan_by(best(), 100), plan_by(Workqueue(), 100));  // the second host is slow
  needs.files = {FileId(0)};
  EXPECT_NE(plan_by(best(), 0.01), plan_by(Workqueue(), 0.01));
}

}  // namespace
}  // namespace gantry::schedule
