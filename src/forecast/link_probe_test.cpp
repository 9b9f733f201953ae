#include "forecast/link_probe.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace gantry::forecast {
namespace {

using namespace std::chrono_literals;

constexpr double kInfinite = std::numeric_limits<double>::infinity();
constexpr double kKiB = 1024;

/// Packet by packet: how long a message and its answer take over a connection that was idle. It
/// begins with ten packets, and each that is acknowledged lets two more go.
double probe_time(double bytes, double bandwidth, double trip) {
  constexpr double kPacket = 1400;
  std::vector<double> acknowledged;
  double link_free = 0;
  const auto packets = static_cast<std::size_t>(std::ceil(bytes / kPacket));
  for (std::size_t i = 0; i < packets; ++i) {
    const double sent = i < 10 ? 0 : acknowledged[(i - 10) / 2];
    const double size = std::min(kPacket, bytes - kPacket * static_cast<double>(i));
    link_free = std::max(sent, link_free) + size / bandwidth;
    acknowledged.push_back(link_free + trip);
  }
  return acknowledged.back();
}

LinkProbe probed_twice(double bytes, double seconds, double trip) {
  LinkProbe probe;
  probe.answered(bytes, seconds, trip);
  probe.answered(bytes, seconds, trip);
  return probe;
}

TEST(LinkProbe, TheBandwidthIsBetweenItsBounds) {
  for (double bandwidth = 1e4; bandwidth < 1e9; bandwidth *= 1.7)
    for (double trip = 0.0001; trip < 1; trip *= 1.9)
      for (double bytes = 4 * kKiB; bytes <= 1024 * kKiB; bytes *= 2) {
        const auto [low, high] =
            probed_twice(bytes, probe_time(bytes, bandwidth, trip), trip).bounds();
        ASSERT_LE(low, bandwidth) << bytes << " bytes, " << trip << " s";
        ASSERT_GE(high, bandwidth) << bytes << " bytes, " << trip << " s";
      }
}

TEST(LinkProbe, TellsHowFastALinkIsThatIsSlowForItsRoundTrip) {
  // 256 KiB at 1 MB/s: the first 14 kB take a round trip of 20 ms, the other 248 kB 248 ms.
  const LinkProbe probe = probed_twice(256 * kKiB, 0.288, 0.02);
  EXPECT_TRUE(probe.is_tight());
  EXPECT_NEAR(probe.middle(), 1e6, 1e5);
  EXPECT_NEAR(probe.within(1e7), 1e6, 3e5);
  EXPECT_NEAR(probe.within(1e5), 1e6, 3e5);
  EXPECT_EQ(probe.within(1e6), 1e6);
}

TEST(LinkProbe, ProgramsThatTakeTheirTimeMakeNoLinkSlow) {
  for (const double bytes : {4 * kKiB, 64 * kKiB}) {
    const LinkProbe probe = probed_twice(bytes, 0.0105, 0.0005);
    EXPECT_EQ(probe.within(1e9), 1e9) << bytes;
  }
}

TEST(LinkProbe, TellsOfALongFatLinkHowFastItIsAtLeast) {
  // 14 kB, 28 kB and the rest wait for two round trips, whatever the bandwidth is.
  const LinkProbe probe = probed_twice(64 * kKiB, 0.301, 0.1);
  EXPECT_FALSE(probe.is_tight());
  EXPECT_EQ(probe.bounds().high, kInfinite);
  EXPECT_EQ(probe.within(1e9), 1e9);
  // In 0.201 s, and 25 + 10 + 10 ms by which that may be mistaken.
  EXPECT_NEAR(probe.within(1), 64 * kKiB / 0.246, 1000);
}

TEST(LinkProbe, WhatOneAloneSaysMayBeChance) {
  LinkProbe probe;
  EXPECT_EQ(probe.within(5), 5);
  probe.answered(256 * kKiB, 0.288, 0.02);
  EXPECT_EQ(probe.bounds().low, 0);
  EXPECT_EQ(probe.bounds().high, kInfinite);
  probe.answered(64 * kKiB, 2, 0.02);  // somebody was busy
  EXPECT_NEAR(probe.within(1e9), 1e6, 3e5);
  EXPECT_LT(probe.bounds().low, 4e4);
  probe.answered(64 * kKiB, 2, 0.02);  // it is as slow as that
  EXPECT_NEAR(probe.within(1e9), 3.5e4, 1e3);
}

TEST(LinkProbe, ABurstThatAShaperLetsThroughDoesNotMakeALinkFast) {
  LinkProbe probe;
  probe.answered(64 * kKiB, 0.022, 0.02);
  probe.answered(256 * kKiB, 0.02 + 192 * kKiB / 1e6, 0.02);
  // 256 KiB in 0.2 s, as much faster as the burst is large; and 5 + 10 + 10 ms either way.
  EXPECT_NEAR(probe.within(1e5), 1.184e6, 1e3);
  EXPECT_EQ(probe.within(2e6), 2e6);
  probe.answered(256 * kKiB, 0.02 + 192 * kKiB / 1e6, 0.02);
  EXPECT_NEAR(probe.within(2e6), 1.671e6, 1e3);
}

TEST(LinkProbe, AFileTellsMore) {
  LinkProbe probe = probed_twice(64 * kKiB, 0.0915, 0.02);
  probe.forget();
  EXPECT_EQ(probe.within(1e9), 1e9);
  EXPECT_EQ(probe.next_bytes({}), 64 * kKiB);
}

TEST(LinkProbe, AfterOneThatNobodyAnsweredItBeginsAnew) {
  LinkProbe probe = probed_twice(1024 * kKiB, 0.012, 0.001);
  const auto before = probe.bounds();
  probe.lost();
  EXPECT_EQ(probe.next_bytes(1e9), 4 * kKiB);
  EXPECT_EQ(probe.bounds().low, before.low);
  probe.answered(4 * kKiB, 0.001, 0.001);
  EXPECT_EQ(probe.next_bytes(1e9), 16 * kKiB);
  probe.lost();
  probe.forget();
  EXPECT_EQ(probe.next_bytes(1e9), 64 * kKiB);
}

TEST(LinkProbe, BeginsSmallAndGrowsWhileThatCostsLittle) {
  LinkProbe probe;
  EXPECT_EQ(probe.next_bytes({}), 64 * kKiB);
  EXPECT_EQ(probe.next_bytes(1e9), 64 * kKiB);
  EXPECT_EQ(probe.next_bytes(1e5), 20'000U);  // 0.2 s
  EXPECT_EQ(probe.next_bytes(1e3), 4 * kKiB);
  probe.answered(64 * kKiB, 0.002, 0.001);
  EXPECT_EQ(probe.next_bytes({}), 256 * kKiB);
  probe.answered(256 * kKiB, 0.004, 0.001);
  EXPECT_EQ(probe.next_bytes({}), 1024 * kKiB);
  probe.answered(1024 * kKiB, 0.012, 0.001);
  EXPECT_EQ(probe.next_bytes({}), LinkProbe::kMostBytes);
  probe.answered(1024 * kKiB, 10, 0.001);  // it has become slow: 10.5 s, or 0.2 s for 20 kB
  EXPECT_NEAR(static_cast<double>(probe.next_bytes(1e8)), 20'000, 100);
  probe.answered(20'000, 100, 0.001);
  EXPECT_EQ(probe.next_bytes(1e8), 4 * kKiB);
}

TEST(LinkProbe, ComesSoonWhileItTellsMore) {
  LinkProbe probe;
  probe.answered(200'000, 0.226, 0.02);
  EXPECT_EQ(probe.pause(1e6), 10s);  // one alone
  probe.answered(200'000, 0.226, 0.02);
  EXPECT_EQ(probe.pause(1e6), 60s);
  EXPECT_EQ(probe.pause({}), 60s);
  probe.answered(64 * kKiB, 0.6, 0.02);
  // Is it slower? But it had 0.58 s of the link, and 44 ms more perhaps: of 20 times as long.
  EXPECT_NEAR(seconds(probe.pause(1e6)), 12.5, 0.1);
  probe.answered(4 * kKiB, 5, 1);
  EXPECT_NEAR(seconds(probe.pause({})), 89.2, 0.1);
  probe.forget();
  probe.answered(64 * kKiB, 0.03, 0.02);
  probe.answered(200'000, 0.24, 0.02);
  EXPECT_EQ(probe.pause({}), 10s);  // it is tight, and not with the one before
  probe.answered(200'000, 0.24, 0.02);
  EXPECT_EQ(probe.pause({}), 60s);
  const LinkProbe fat = probed_twice(64 * kKiB, 0.003, 0.001);
  EXPECT_EQ(fat.pause(1e9), 10s);  // a larger one
}

TEST(LinkProbe, WhatCannotBeSaysNothing) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  LinkProbe probe;
  for (const double lie : {nan, -1.0, 0.0, kInfinite, 1e300}) {
    probe.answered(lie, 1, 0.1);
    probe.answered(64 * kKiB, lie, 0.1);
  }
  probe.answered(64 * kKiB, 1, nan);
  probe.answered(64 * kKiB, 1, -1);
  EXPECT_EQ(probe.bounds().high, kInfinite);
  EXPECT_EQ(probe.next_bytes({}), 64 * kKiB);
  // Sooner than a round trip: still no faster than programs are.
  probe = probed_twice(64 * kKiB, 1e-9, 0.1);
  EXPECT_LE(probe.bounds().low, 64 * kKiB / 0.035);
}

}  // namespace
}  // namespace gantry::forecast
