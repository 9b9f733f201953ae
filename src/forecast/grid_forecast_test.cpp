#include "forecast/grid_forecast.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace gantry::forecast {
namespace {

TimePoint at(double moment) {
  return TimePoint{} + from_seconds(moment);
}

TEST(GridForecast, WaysBetweenSitesAreLearntOneByOne) {
  GridForecast forecast;
  forecast.moved(SiteId(1), SiteId(2), 1e6, at(0), at(1));  // perhaps only to log in
  EXPECT_EQ(forecast.bandwidth(SiteId(1), SiteId(2)), std::nullopt);
  forecast.moved(SiteId(1), SiteId(2), 1e6, at(10), at(14));
  EXPECT_DOUBLE_EQ(*forecast.bandwidth(SiteId(1), SiteId(2)), 2.5e5);
  EXPECT_EQ(forecast.bandwidth(SiteId(2), SiteId(1)), std::nullopt);
  EXPECT_EQ(forecast.bandwidth(SiteId(2)), std::nullopt);
}

TEST(GridForecast, KnowsNothingBeforeTheFirstObservation) {
  const GridForecast forecast;
  EXPECT_EQ(forecast.pace(HostId(1)), std::nullopt);
  EXPECT_EQ(forecast.bandwidth(SiteId(1)), std::nullopt);
}

TEST(GridForecast, AHostsPaceIsTimePerCost) {
  GridForecast forecast;
  forecast.ran(HostId(1), 2, from_seconds(10));
  forecast.ran(HostId(2), 2, from_seconds(4));
  EXPECT_DOUBLE_EQ(*forecast.pace(HostId(1)), 5);
  EXPECT_DOUBLE_EQ(*forecast.pace(HostId(2)), 2);
}

TEST(GridForecast, FollowsAHostThatBecomesTenTimesSlower) {
  GridForecast forecast;
  for (int i = 0; i < 100; ++i) forecast.ran(HostId(1), 1, from_seconds(1));
  for (int i = 0; i < 5; ++i) forecast.ran(HostId(1), 1, from_seconds(10));
  EXPECT_GT(*forecast.pace(HostId(1)), 9);
}

TEST(GridForecast, WhatTookNoTimeOrHasNoCostDoesNoHarm) {
  GridForecast forecast;
  forecast.ran(HostId(1), 1, Duration{0});
  forecast.ran(HostId(1), 1, Duration{-5});
  EXPECT_EQ(forecast.pace(HostId(1)), std::nullopt);
  forecast.ran(HostId(1), std::numeric_limits<double>::quiet_NaN(), from_seconds(3));
  EXPECT_DOUBLE_EQ(*forecast.pace(HostId(1)), 3);
  forecast.moved(SiteId(1), 0, at(0), at(1));
  forecast.moved(SiteId(1), std::numeric_limits<double>::quiet_NaN(), at(1), at(2));
  forecast.moved(SiteId(1), 1e6, at(5), at(4));
  EXPECT_EQ(forecast.bandwidth(SiteId(1)), std::nullopt);
}

TEST(GridForecast, WhatStartsCostIsLearntBySite) {
  GridForecast forecast;
  EXPECT_EQ(forecast.launch(SiteId(1)), std::nullopt);
  EXPECT_EQ(forecast.launches(SiteId(1)), nullptr);
  EXPECT_EQ(forecast.launched(SiteId(1), 0.25, at(9)), Verdict::taken);
  EXPECT_EQ(forecast.launched(SiteId(1), 0.25, at(7)), Verdict::taken);  // of another host
  EXPECT_DOUBLE_EQ(*forecast.launch(SiteId(1)), 0.25);
  EXPECT_EQ(forecast.launch(SiteId(2)), std::nullopt);
}

TEST(GridForecast, ARoundTripIsNoPartOfALinksBandwidth) {
  GridForecast forecast;
  EXPECT_EQ(forecast.round_trip(SiteId(1)), std::nullopt);
  EXPECT_EQ(forecast.echoed(SiteId(1), 0.5, at(0)), Verdict::taken);
  EXPECT_DOUBLE_EQ(*forecast.round_trip(SiteId(1)), 0.5);
  forecast.moved(SiteId(1), 1e6, at(1), at(3.5));  // 2 s without it
  EXPECT_DOUBLE_EQ(*forecast.bandwidth(SiteId(1)), 5e5);
  // The next ones were sent while that was under way: there is nothing to take off.
  forecast.moved(SiteId(1), 1e6, at(2), at(5.5));
  EXPECT_DOUBLE_EQ(*forecast.bandwidth(SiteId(1)), 5e5);
}

TEST(GridForecast, WhatTookHardlyMoreThanARoundTripIsNoSlowLink) {
  GridForecast forecast;
  forecast.echoed(SiteId(1), 0.5, at(0));
  forecast.moved(SiteId(1), 3e5, at(1), at(1.6));   // 0.1 s more: noise
  forecast.moved(SiteId(1), 3e5, at(2), at(2.45));  // even less
  EXPECT_EQ(forecast.bandwidth(SiteId(1)), std::nullopt);
  forecast.moved(SiteId(1), 3e6, at(3), at(6.5));
  EXPECT_DOUBLE_EQ(*forecast.bandwidth(SiteId(1)), 1e6);
}

/// Two probes of 256 KiB over a link of about so many bytes a second and with a trip of 20 ms,
/// which its first 14 kB take.
void probe_twice(GridForecast& forecast, double bandwidth, double begin) {
  constexpr double kBytes = 256 << 10;
  const double seconds = 0.04 + (kBytes - 14'000) / bandwidth;
  for (int i = 0; i < 2; ++i) forecast.probed(SiteId(1), kBytes, seconds, 0.02, at(begin + 10 * i));
}

TEST(GridForecast, ALinkThatNobodyUsedIsKnownByProbes) {
  GridForecast forecast;
  forecast.probed(SiteId(1), 262'144, 0.288, 0.02, at(2));
  EXPECT_EQ(forecast.bandwidth(SiteId(1)), std::nullopt);
  EXPECT_EQ(forecast.possible_bandwidth(SiteId(1), 7), 7);
  forecast.probed(SiteId(1), 262'144, 0.288, 0.02, at(12));
  EXPECT_NEAR(*forecast.bandwidth(SiteId(1)), 1e6, 1e5);
  EXPECT_EQ(forecast.probes(SiteId(1)), 2U);
  EXPECT_EQ(forecast.bandwidth(SiteId(2)), std::nullopt);
  probe_twice(forecast, 1e5, 100);  // as they say, both ways
  EXPECT_NEAR(*forecast.bandwidth(SiteId(1)), 1e5, 2e4);
  probe_twice(forecast, 1e6, 200);
  EXPECT_NEAR(*forecast.bandwidth(SiteId(1)), 1e6, 2e5);
  forecast.moved(SiteId(1), 1e6, at(300), at(305));  // the first file knows better than all of them
  EXPECT_DOUBLE_EQ(*forecast.bandwidth(SiteId(1)), 2e5);
  EXPECT_EQ(forecast.byte_times(SiteId(1))->observations(), 1U);
}

TEST(GridForecast, OfALongFatLinkProbesSayThatItIsNotAsSlowAsDeclared) {
  GridForecast forecast;
  for (int i = 1; i <= 2; ++i) forecast.probed(SiteId(1), 65536, 0.301, 0.1, at(10 * i));
  EXPECT_EQ(forecast.bandwidth(SiteId(1)), std::nullopt);
  EXPECT_EQ(forecast.possible_bandwidth(SiteId(1), 1e8), 1e8);
  EXPECT_GT(forecast.possible_bandwidth(SiteId(1), 1e3), 2e5);
}

/// A link of so many bytes a second, as two large files have told.
GridForecast after_files(double bandwidth) {
  GridForecast forecast;
  forecast.echoed(SiteId(1), 0.02, at(0));
  forecast.moved(SiteId(1), 10 * bandwidth, at(0), at(10.02));
  forecast.moved(SiteId(1), 10 * bandwidth, at(20), at(30.02));
  return forecast;
}

TEST(GridForecast, ProbesDoNotSpoilWhatFilesHaveTaught) {
  GridForecast forecast = after_files(1e7);
  const double taught = *forecast.bandwidth(SiteId(1));
  // Of 64 KiB, 42 kB and the rest wait for two round trips: they look like 1.6 MB/s.
  for (int i = 0; i < 50; ++i) forecast.probed(SiteId(1), 65536, 0.0601, 0.02, at(100 + 60 * i));
  EXPECT_EQ(*forecast.bandwidth(SiteId(1)), taught);
  EXPECT_EQ(forecast.byte_times(SiteId(1))->observations(), 2U);
}

TEST(GridForecast, ProbesTellThatALinkHasBecomeSlowerUntilAFileTells) {
  GridForecast forecast = after_files(1e7);
  forecast.probed(SiteId(1), 65536, 0.6654, 0.02, at(100));  // 100 kB/s
  EXPECT_NEAR(*forecast.bandwidth(SiteId(1)), 1e7, 1e5);
  forecast.probed(SiteId(1), 65536, 0.6654, 0.02, at(110));
  EXPECT_NEAR(*forecast.bandwidth(SiteId(1)), 1e5, 2e4);
  probe_twice(forecast, 1e6, 200);
  EXPECT_NEAR(*forecast.bandwidth(SiteId(1)), 1e6, 2e5);
  EXPECT_EQ(forecast.byte_times(SiteId(1))->observations(), 2U);
  GridForecast unprobed = after_files(1e7);
  for (GridForecast* each : {&forecast, &unprobed})
    each->moved(SiteId(1), 2e7, at(600), at(604.02));
  EXPECT_EQ(forecast.bandwidth(SiteId(1)), unprobed.bandwidth(SiteId(1)));
}

TEST(GridForecast, ABurstThatAShaperLetsThroughMakesALinkTwiceAsFastAtTheMost) {
  GridForecast forecast = after_files(1e6);
  const double taught = *forecast.bandwidth(SiteId(1));
  for (int i = 0; i < 2; ++i)  // 1 MiB at 50 MB/s
    forecast.probed(SiteId(1), 1 << 20, 0.041, 0.02, at(100 + 10 * i));
  EXPECT_DOUBLE_EQ(*forecast.bandwidth(SiteId(1)), 2 * taught);
  EXPECT_EQ(forecast.byte_times(SiteId(1))->observations(), 2U);
  for (int i = 0; i < 50; ++i) forecast.probed(SiteId(1), 1 << 20, 0.041, 0.02, at(200 + 60 * i));
  EXPECT_DOUBLE_EQ(*forecast.bandwidth(SiteId(1)), 2 * taught);
  GridForecast unprobed = after_files(1e6);
  for (GridForecast* each : {&forecast, &unprobed})
    each->moved(SiteId(1), 1e7, at(9000), at(9010.02));
  EXPECT_EQ(forecast.bandwidth(SiteId(1)), unprobed.bandwidth(SiteId(1)));
}

TEST(GridForecast, ARoundTripThatCannotBeIsCountedAndNotBelieved) {
  GridForecast forecast;
  for (const double lie : {std::numeric_limits<double>::quiet_NaN(), -0.1, 61.0, 1e9})
    EXPECT_NE(forecast.echoed(SiteId(1), lie, at(1)), Verdict::taken);
  EXPECT_EQ(forecast.round_trip(SiteId(1)), std::nullopt);
  forecast.echoed(SiteId(1), 0.5, at(2));
  EXPECT_EQ(forecast.echoed(SiteId(1), 0.5, at(1)), Verdict::not_later);
  EXPECT_EQ(forecast.round_trips(SiteId(1))->quarantined(), 5U);
}

TEST(GridForecast, WhatAStartCannotCostIsCountedAndNotBelieved) {
  GridForecast forecast;
  for (const double lie : {std::numeric_limits<double>::quiet_NaN(),
                           std::numeric_limits<double>::infinity(), -0.1, 1e12})
    EXPECT_NE(forecast.launched(SiteId(1), lie, at(1)), Verdict::taken);
  EXPECT_EQ(forecast.launch(SiteId(1)), std::nullopt);
  for (int i = 0; i < 30; ++i) forecast.launched(SiteId(1), 0.2 + 0.001 * (i % 3), at(2 + i));
  EXPECT_EQ(forecast.launched(SiteId(1), 4000, at(40)), Verdict::absurd);
  EXPECT_NEAR(*forecast.launch(SiteId(1)), 0.2, 0.01);
  EXPECT_EQ(forecast.launches(SiteId(1))->quarantined(), 5U);
}

TEST(GridForecast, ATimeDuringWhichSomebodySetTheClockDoesNotCount) {
  GridForecast forecast;
  for (int i = 0; i < 30; ++i)
    EXPECT_GT(forecast.ran(HostId(1), 1, from_seconds(9 + i % 3), at(10 * i)), 0);
  EXPECT_EQ(forecast.ran(HostId(1), 1, from_seconds(1.7e9), at(310)), 0);
}

TEST(GridForecast, FilesThatWereSentTogetherTookTheirTurns) {
  GridForecast forecast;
  forecast.moved(SiteId(1), 1e6, at(0), at(10));
  forecast.moved(SiteId(1), 1e6, at(0), at(20));
  forecast.moved(SiteId(1), 1e6, at(0), at(30));
  EXPECT_DOUBLE_EQ(*forecast.bandwidth(SiteId(1)), 1e5);
}

TEST(GridForecast, ASmallFileSaysNothingOfItsLink) {
  GridForecast forecast;
  forecast.moved(SiteId(1), 32, at(0), at(2));  // most of it until somebody had connected
  EXPECT_EQ(forecast.bandwidth(SiteId(1)), std::nullopt);
  forecast.moved(SiteId(1), 1e6, at(0), at(4));  // but it was before this one
  EXPECT_DOUBLE_EQ(*forecast.bandwidth(SiteId(1)), 5e5);
}

}  // namespace
}  // namespace gantry::forecast
