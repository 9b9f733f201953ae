#include "forecast/availability.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "forecast/grid_forecast.hpp"

namespace gantry::forecast {
namespace {

constexpr HostId kHost{1};

TimePoint told_at(double s) {
  return TimePoint{} + std::chrono::hours(1) + from_seconds(s);
}

/// A host that tells its share every three seconds, by a clock that is ours.
struct ToldHost {
  GridForecast seen;
  double now = 0;

  void tell(double share, int times = 1) {
    for (; times > 0; --times) {
      now += 3;
      seen.pass(told_at(now));
      seen.loaded(kHost, share, told_at(now), told_at(now));
    }
  }
};

TEST(Availability, ALoadIsBelievedWithinTwoReports) {
  for (const int before : {1, 5, 100}) {
    ToldHost host;
    host.tell(0.9, before);
    EXPECT_NEAR(host.seen.speed(kHost), 1, 0.01);
    host.tell(0.3, 2);
    EXPECT_NEAR(host.seen.speed(kHost), 1.0 / 3, 0.02) << before;
    host.tell(0.9, 2);
    EXPECT_NEAR(host.seen.speed(kHost), 1, 0.02) << before;
  }
}

TEST(Availability, AHostThatWasLoadedWhileNobodyComputedIsNotTakenForFast) {
  ToldHost host;
  host.tell(1, 33);
  host.now += 12;  // idle, and then somebody else came
  const auto begun = host.seen.work_done(kHost, told_at(host.now));
  const double started = host.now;
  host.tell(0.3, 6);
  host.seen.ran(kHost, 1, from_seconds(16.7), told_at(started + 16.7), begun);  // 5 s of work
  EXPECT_NEAR(*host.seen.pace(kHost) * host.seen.speed(kHost), 5, 1.5);
}

TEST(Availability, AShareThatStaysTheSameChangesNothing) {
  // Half a processor, as a quota gives it: what was learnt before the first report holds.
  ToldHost host;
  host.seen.ran(kHost, 2, std::chrono::seconds(20), told_at(1));
  EXPECT_DOUBLE_EQ(*host.seen.pace(kHost), 10);
  for (int i = 0; i < 20; ++i) {
    const auto begun = host.seen.work_done(kHost, told_at(host.now));
    host.tell(0.5, 7);
    host.seen.ran(kHost, 2, from_seconds(20), told_at(host.now - 1), begun);
    EXPECT_NEAR(*host.seen.pace(kHost), 10, 0.5) << i;
  }
}

TEST(Availability, ATaskUnderLoadTeachesWhatItWouldHaveTakenWithout) {
  // Cost 1 takes 10 s. The second task gets half of the speed: 20 s.
  ToldHost host;
  host.tell(1);
  auto begun = host.seen.work_done(kHost, told_at(3));
  host.tell(1, 3);
  host.seen.ran(kHost, 1, from_seconds(10), told_at(13), begun);
  EXPECT_NEAR(*host.seen.pace(kHost), 10, 0.1);

  begun = host.seen.work_done(kHost, told_at(12));
  host.tell(0.5, 7);  // until 33
  EXPECT_NEAR(*host.seen.pace(kHost), 20, 0.5) << "before anything has ended there";
  host.seen.ran(kHost, 1, from_seconds(20), told_at(32), begun);
  EXPECT_NEAR(*host.seen.pace(kHost), 20, 0.5) << "the load counts once";
  host.tell(1, 3);
  EXPECT_NEAR(*host.seen.pace(kHost), 10, 0.5) << "and is over";
}

TEST(Availability, WhatRunsHasDoneLessThanItLasted) {
  ToldHost host;
  host.tell(1, 4);  // until 12
  const auto begun = host.seen.work_done(kHost, told_at(12));
  host.tell(0.25, 8);  // until 36: six seconds' work in 24
  // At the present pace that took all of the 24.
  EXPECT_NEAR(host.seen.done_of(kHost, told_at(12), begun, told_at(36)), 24, 0.5);
  host.tell(1, 3);  // until 45: 9 s more
  EXPECT_NEAR(host.seen.done_of(kHost, told_at(12), begun, told_at(45)), 6 + 9, 0.5);
  EXPECT_NEAR(host.seen.done_of(kHost, told_at(12), begun, told_at(47)), 6 + 11, 0.5);
  EXPECT_DOUBLE_EQ(host.seen.done_of(HostId(2), told_at(12), {}, told_at(45)), 33)
      << "of a host that tells nothing it is the time";
}

TEST(Availability, WhatBeganBeforeTheFirstReportHasDoneWhatItLastedUntilThen) {
  ToldHost host;
  host.now = 20;
  host.tell(0.5);
  EXPECT_NEAR(host.seen.done_of(kHost, told_at(3), {}, told_at(23)), 20, 1e-6);
  host.seen.ran(kHost, 1, from_seconds(20), told_at(23));
  EXPECT_NEAR(*host.seen.pace(kHost), 20, 1e-6);
}

TEST(Availability, AHostThatTellsNothingIsAsItWasOnAverage) {
  ToldHost host;
  host.tell(1, 91);  // 270 s
  host.tell(0.1, 10);
  EXPECT_NEAR(host.seen.speed(kHost), 0.1, 0.02);
  host.seen.pass(told_at(host.now + 10));
  EXPECT_NEAR(host.seen.speed(kHost), 0.1, 0.02) << "a report may be late";
  host.seen.pass(told_at(host.now + 3600));
  EXPECT_NEAR(host.seen.speed(kHost), 0.91, 0.03);
}

TEST(Availability, NonsenseChangesNothing) {
  ToldHost host;
  host.tell(0.8, 10);
  const double before = host.seen.speed(kHost);
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (const double share : {kNan, kInfinity, -kInfinity, -0.1, 1.1, 1e300})
    EXPECT_NE(host.seen.loaded(kHost, share, told_at(host.now + 3), told_at(host.now)),
              Verdict::taken)
        << share;
  EXPECT_EQ(host.seen.loaded(kHost, 0.1, told_at(host.now), told_at(host.now)), Verdict::not_later)
      << "told twice";
  EXPECT_EQ(host.seen.loaded(kHost, 0.1, told_at(host.now - 100), told_at(host.now)),
            Verdict::not_later);
  EXPECT_EQ(host.seen.loaded(kHost, 0.1, told_at(1e8), told_at(host.now)), Verdict::clock_jump);
  EXPECT_EQ(host.seen.loaded(kHost, 0.1, TimePoint::max(), told_at(host.now)), Verdict::clock_jump);
  EXPECT_DOUBLE_EQ(host.seen.speed(kHost), before);
  EXPECT_EQ(host.seen.availability(kHost)->series().quarantined(), 10U);
}

TEST(Availability, AHostThatIsStarvedIsSlowNotStopped) {
  ToldHost host;
  host.tell(1, 5);
  host.seen.ran(kHost, 1, from_seconds(3), told_at(host.now));
  host.tell(0, 5);
  EXPECT_NEAR(*host.seen.pace(kHost), 300, 1);
  ToldHost starved;
  starved.tell(0, 5);
  EXPECT_NEAR(starved.seen.speed(kHost), 1, 1e-6);
  starved.tell(1, 3);
  EXPECT_NEAR(starved.seen.speed(kHost), 100, 5);
}

TEST(Availability, AClockThatWasSetDoesNotMakeTasksTakeForEver) {
  ToldHost host;
  host.tell(0.5, 10);
  host.seen.ran(kHost, 1, from_seconds(10), told_at(host.now));
  const auto begun = host.seen.work_done(kHost, told_at(host.now));
  // An hour back: believed when the third says so.
  for (int i = 0; i < 6; ++i) {
    host.now += 3;
    host.seen.pass(told_at(host.now));
    host.seen.loaded(kHost, 0.5, told_at(host.now - 3600), told_at(host.now));
  }
  host.seen.ran(kHost, 1, from_seconds(10), told_at(host.now - 3600), begun);
  EXPECT_GE(*host.seen.pace(kHost), 1);
  EXPECT_LE(*host.seen.pace(kHost), 30);
  for (const TimePoint at : {TimePoint::min(), TimePoint::max()}) {
    EXPECT_TRUE(std::isfinite(*host.seen.work_done(kHost, at)));
    EXPECT_TRUE(std::isfinite(host.seen.done_of(kHost, at, {}, told_at(host.now))));
  }
}

}  // namespace
}  // namespace gantry::forecast
