#include "schedule/gantt/gantt_strategy.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "schedule/learned_estimates.hpp"

namespace gantry::schedule {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

constexpr SiteId kOnlySite(1);

/// A host behind a link of 10 bytes a second, and a task for each of two files of 100 and 200
/// bytes.
struct OneHost {
  Host machine{HostId(1), "a", 1, 0, kOnlySite};
  std::vector<TaskNeeds> needs{{.files = {FileId(0)}, .cost = 10},
                               {.files = {FileId(1)}, .cost = 10}};
  std::deque<std::uint64_t> place{1};
  std::size_t classes = 2;
  std::vector<SiteFiles> sites{{kOnlySite}};
  std::vector<double> file_bytes{100, 200};
  forecast::RunTimeForecast run_times;
  std::vector<Refused> refused{};

  Plan ask(GanttStrategy& strategy, double after) const {
    std::vector<ReadyClass> ready;
    for (std::uint32_t i = 0; i < classes; ++i)
      ready.push_back({ClassId(i + 1), &needs[i], &place});
    const std::vector<HostLoad> hosts{{&machine, 0}};
    return strategy.plan({.now = TimePoint{} + from_seconds(after),
                          .classes = ready,
                          .hosts = hosts,
                          .run_times = run_times,
                          .ready = classes,
                          .file_bytes = file_bytes,
                          .sites = sites,
                          .refused = refused});
  }
};

GanttStrategy min_min(const GanttChoices& choices) {
  return GanttStrategy({.heuristic = Heuristic::min_min, .choices = choices},
                       std::make_shared<LearnedEstimates>(GridPriors{.links = {{}, {0, 10}}}));
}

TEST(GanttStrategy, QueuedFilesAreSentOnlyIfThatWasChosen) {
  for (const bool keep : {false, true}) {
    OneHost world;
    GanttStrategy strategy = min_min({.keep_queued_files = keep});
    EXPECT_THAT(world.ask(strategy, 0).moves, ElementsAre(MoveFile{FileId(0), kHome, kOnlySite}));
    // The first file has arrived; nobody wants the second any more, and the plan is made anew.
    world.sites[0].there = {FileId(0)};
    world.classes = 1;
    world.refused = {{Intent{ClassId(2), HostId(1)}, RefusalReason::class_gone}};
    strategy.observe(FileArrived{FileId(0), kOnlySite, TimePoint{} + from_seconds(10)});
    const Plan plan = world.ask(strategy, 10);
    EXPECT_THAT(plan.starts, SizeIs(1));
    if (keep)
      EXPECT_THAT(plan.moves, ElementsAre(MoveFile{FileId(1), kHome, kOnlySite}));
    else
      EXPECT_THAT(plan.moves, IsEmpty());
  }
}

TEST(GanttStrategy, AsksToBeAskedAtTheNextEvent) {
  const OneHost world;
  GanttStrategy strategy({.interval = 50}, std::make_shared<LearnedEstimates>());
  EXPECT_EQ(world.ask(strategy, 0).ask_again, TimePoint{} + from_seconds(50));
  EXPECT_EQ(world.ask(strategy, 20).ask_again, TimePoint{} + from_seconds(50));
  EXPECT_EQ(world.ask(strategy, 60).ask_again, TimePoint{} + from_seconds(110));
}

}  // namespace
}  // namespace gantry::schedule
