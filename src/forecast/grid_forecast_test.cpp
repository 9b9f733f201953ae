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
