#include "schedule/learned_estimates.hpp"

#include <gtest/gtest.h>

namespace gantry::schedule {
namespace {

constexpr SiteId kSeenSite(1);
constexpr SiteId kUnseenSite(2);

/// Two hosts, believed to have speeds 1 and 2, at two sites with links of 10 and 20 bytes a second.
struct Learner {
  std::vector<Host> machines{{HostId(1), "a", 1, 0, kSeenSite},
                             {HostId(2), "b", 1, 0, kUnseenSite}};
  forecast::RunTimeForecast run_times;
  forecast::GridForecast seen;
  GridPriors priors{.speeds = {1, 2}, .links = {{}, {0.5, 10}, {0.5, 20}}};
  SiteMap map{};
  TimePoint now{};
  std::vector<HostLoad> loads{};

  [[nodiscard]] std::unique_ptr<Estimates> estimates() const {
    const std::vector<const Host*> slots{&machines[0], &machines[1]};
    const std::vector<SiteId> sites{kSeenSite, kUnseenSite};
    return LearnedEstimates(priors).at({.now = now,
                                        .classes = {},
                                        .hosts = loads,
                                        .run_times = run_times,
                                        .seen = &seen,
                                        .map = &map},
                                       slots, sites);
  }
};

TEST(LearnedEstimates, BeforeAnythingWasSeenTheyAreWhatIsBelieved) {
  const Learner learner;
  const auto estimates = learner.estimates();
  EXPECT_DOUBLE_EQ(estimates->computed(0, 3, 10), 13);
  EXPECT_DOUBLE_EQ(estimates->computed(1, 3, 10), 8);
  EXPECT_DOUBLE_EQ(estimates->moved(0, 0, 100, false), 10.5);
  EXPECT_DOUBLE_EQ(estimates->moved(1, 0, 100, true), 5.5);
}

TEST(LearnedEstimates, WhereNothingRanAnEarlierRunTellsHowLongTasksTake) {
  Learner learner;
  learner.run_times.observe(1, std::chrono::seconds(5));
  auto estimates = learner.estimates();
  EXPECT_DOUBLE_EQ(estimates->computed(0, 3, 10), 53);
  EXPECT_DOUBLE_EQ(estimates->computed(1, 3, 10), 28);
  learner.seen.ran(HostId(1), 1, std::chrono::seconds(7));
  estimates = learner.estimates();
  EXPECT_DOUBLE_EQ(estimates->computed(0, 3, 10), 73);
}

TEST(LearnedEstimates, WhatIsDeclaredOfLinksToHomeIsBelieved) {
  Learner learner;
  learner.priors = {.speeds = {1, 2}};
  learner.map.ways = {{kHome, kUnseenSite, 50, 0.25}, {kSeenSite, kUnseenSite, 1e9}};
  const auto estimates = learner.estimates();
  EXPECT_DOUBLE_EQ(estimates->moved(0, 7, 100, false), 7) << "nobody said anything of it";
  EXPECT_DOUBLE_EQ(estimates->moved(1, 0, 100, false), 2.25);
}

TEST(LearnedEstimates, WhatIsNotBelievedIsDeclaredOrTakesNoTime) {
  Learner learner;
  learner.priors = {};
  learner.machines[1].speed = 4;
  const auto estimates = learner.estimates();
  EXPECT_DOUBLE_EQ(estimates->computed(0, 0, 10), 10);
  EXPECT_DOUBLE_EQ(estimates->computed(1, 0, 10), 2.5);
  EXPECT_DOUBLE_EQ(estimates->moved(0, 7, 100, false), 7);
}

TEST(LearnedEstimates, AHostIsAsFastAsItWasSeenAndTheOthersAreCorrectedAlike) {
  Learner learner;
  learner.seen.ran(HostId(1), 1, from_seconds(3));  // three times slower than believed
  const auto estimates = learner.estimates();
  EXPECT_DOUBLE_EQ(estimates->computed(0, 0, 10), 30);
  EXPECT_DOUBLE_EQ(estimates->computed(1, 0, 10), 15);
}

TEST(LearnedEstimates, AHostWhoseFirstTasksAreLateIsAsSlowAsThatAtLeast) {
  Learner learner;
  const TimePoint began = TimePoint{} + std::chrono::hours(1);
  learner.now = began + std::chrono::seconds(60);
  // Two tasks of cost 2 run there, for 60 s and for 40: 20 s for a cost of 1.
  const std::vector<Ongoing> late{
      {.task = TaskId(1), .cost = 2, .started = began},
      {.task = TaskId(2), .cost = 2, .started = began + std::chrono::seconds(20)},
      {.task = TaskId(3), .cost = 2}};
  learner.loads = {{&learner.machines[1], kFull, late}};
  EXPECT_DOUBLE_EQ(learner.estimates()->computed(1, 0, 1), 0.5) << "nobody knows what is late";
  learner.seen.ran(HostId(1), 1, std::chrono::seconds(4));
  EXPECT_DOUBLE_EQ(learner.estimates()->computed(0, 0, 1), 4);
  EXPECT_DOUBLE_EQ(learner.estimates()->computed(1, 0, 1), 20);
  // Twice as fast as the other, it was to take 2 s: what runs for less is no news.
  learner.now = began + std::chrono::seconds(22);
  EXPECT_DOUBLE_EQ(learner.estimates()->computed(1, 0, 1), 2);
  learner.now = began + std::chrono::seconds(60);
  learner.seen.ran(HostId(2), 1, std::chrono::seconds(3));
  EXPECT_DOUBLE_EQ(learner.estimates()->computed(1, 0, 1), 3) << "one has ended";
}

TEST(LearnedEstimates, ALinkThatWasSeenTakesItsRoundTripAsWell) {
  Learner learner;
  learner.seen.echoed(kSeenSite, 0.25, TimePoint{});
  EXPECT_DOUBLE_EQ(learner.estimates()->moved(0, 0, 100, false), 10.5) << "as believed";
  learner.seen.moved(kSeenSite, 1e6, TimePoint{}, TimePoint{} + from_seconds(5e5 + 0.25));
  EXPECT_DOUBLE_EQ(learner.estimates()->moved(0, 0, 100, false), 50.25);
}

TEST(LearnedEstimates, WhatIsBelievedOfALinkIsNothingThatProbesHaveRuledOut) {
  Learner learner;
  learner.seen.echoed(kSeenSite, 0.1, TimePoint{});
  for (int i = 0; i < 2; ++i) learner.seen.probed(kSeenSite, 65536, 0.301, 0.1, TimePoint{});
  EXPECT_NEAR(learner.estimates()->moved(0, 0, 100, false), 0.5, 0.001);  // not 10 bytes a second
  EXPECT_DOUBLE_EQ(learner.estimates()->moved(1, 0, 100, false), 5.5);
}

TEST(LearnedEstimates, WhatAStartCostsIsAddedOnceATaskWhereItIsKnown) {
  Learner learner;
  learner.seen.launched(kSeenSite, 0.5, TimePoint{});
  const auto estimates = learner.estimates();
  EXPECT_DOUBLE_EQ(estimates->computed(0, 3, 10), 13.5);
  EXPECT_DOUBLE_EQ(estimates->computed(1, 3, 10), 8);
  const std::vector<double> works{10, 20};
  std::vector<Seconds> ends(2);
  estimates->computed_each(0, 3, works, ends);
  EXPECT_DOUBLE_EQ(ends[0], 13.5);
  EXPECT_DOUBLE_EQ(ends[1], 23.5);
}

TEST(LearnedEstimates, ALinkIsAsFastAsItWasSeenAndTheOthersAsBelieved) {
  Learner learner;
  learner.seen.moved(kSeenSite, 1e6, TimePoint{}, TimePoint{} + from_seconds(5e5));
  const auto estimates = learner.estimates();
  EXPECT_DOUBLE_EQ(estimates->moved(0, 0, 100, false), 50);
  EXPECT_DOUBLE_EQ(estimates->moved(1, 0, 100, false), 5.5);
}

}  // namespace
}  // namespace gantry::schedule
