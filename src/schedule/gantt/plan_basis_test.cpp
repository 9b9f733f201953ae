#include "schedule/gantt/plan_basis.hpp"

#include <gtest/gtest.h>

#include "schedule/learned_estimates.hpp"

namespace gantry::schedule {
namespace {

Beliefs hosts_with(double first, double others) {
  Beliefs beliefs{.speeds = {{HostId(1), first}}};
  for (std::uint32_t i = 2; i <= 5; ++i) beliefs.speeds[HostId(i)] = others;
  return beliefs;
}

TEST(PlanBasis, HoldsWhileSpeedsChangeByLittleOrOfFewHosts) {
  EXPECT_FALSE(is_overturned(hosts_with(1, 1), hosts_with(1.3, 0.8)));
  EXPECT_FALSE(is_overturned(hosts_with(0.1, 1), hosts_with(0.2, 1)));
  EXPECT_FALSE(is_overturned({}, hosts_with(1, 1))) << "those that came are an event";
}

TEST(PlanBasis, IsOverturnedByAFastHostThatBecameSlow) {
  EXPECT_TRUE(is_overturned(hosts_with(1, 1), hosts_with(0.5, 1)));
  EXPECT_TRUE(is_overturned(hosts_with(0.5, 1), hosts_with(1, 1)));
  EXPECT_TRUE(is_overturned(hosts_with(1, 1), hosts_with(0, 1)));
}

TEST(PlanBasis, IsOverturnedByALink) {
  const auto link = [](double bandwidth) {
    return Beliefs{.bandwidths = {{SiteId(1), bandwidth}, {SiteId(2), 10}}};
  };
  EXPECT_FALSE(is_overturned(link(10), link(12)));
  EXPECT_TRUE(is_overturned(link(10), link(20)));
  EXPECT_TRUE(is_overturned(link(kInfinite), link(20)));
}

/// Two hosts, of which nothing is known at the beginning.
struct Watched {
  Host first{HostId(1), "a", 1, 0, kHome};
  Host second{HostId(2), "b", 1, 0, kHome};
  std::vector<HostLoad> hosts{{&first}, {&second}};
  forecast::RunTimeForecast run_times;
  forecast::GridForecast seen;
  LearnedEstimates estimates;
  PlanBasis basis;

  [[nodiscard]] World at(double time) const {
    return {.now = TimePoint{} + from_seconds(time),
            .classes = {},
            .hosts = hosts,
            .run_times = run_times,
            .seen = &seen};
  }
  bool is_outdated(double time, Seconds pause = 5) {
    return basis.is_outdated(at(time), estimates, pause);
  }
};

TEST(PlanBasis, FirstRunTimesOverturnWhatWasBelieved) {
  Watched watched;
  EXPECT_FALSE(watched.is_outdated(10)) << "no plan was made";
  watched.basis.remember(watched.at(0), watched.estimates);
  EXPECT_FALSE(watched.is_outdated(10));
  watched.seen.ran(HostId(1), 1, from_seconds(9));
  EXPECT_FALSE(watched.is_outdated(12)) << "it was looked at a moment ago";
  EXPECT_FALSE(watched.is_outdated(99, kInfinite));
  EXPECT_TRUE(watched.is_outdated(16));
  watched.basis.remember(watched.at(16), watched.estimates);
  EXPECT_FALSE(watched.is_outdated(30));
}

}  // namespace
}  // namespace gantry::schedule
