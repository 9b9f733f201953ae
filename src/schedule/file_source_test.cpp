#include "schedule/file_source.hpp"

#include <gtest/gtest.h>

namespace gantry::schedule {
namespace {

using std::chrono::seconds;

constexpr SiteId kNear(1);
constexpr SiteId kPeer(2);
constexpr FileId kMesh(0);
constexpr FileId kOther(1);

/// Home reaches both sites with 10 bytes a second; between them 100 pass. Files have 1,000 bytes.
struct SourceWorld {
  SiteMap map{.ways = {{kHome, kNear, 10}, {kHome, kPeer, 10}, {kNear, kPeer, 100}}};
  std::vector<double> file_bytes{1000, 1000};
  std::vector<SiteFiles> sites{{.site = kNear}, {.site = kPeer}};
  TimePoint now = TimePoint{} + std::chrono::hours(1);

  [[nodiscard]] FileSource choose(std::optional<SiteId> avoid = std::nullopt) const {
    return choose_source({map, sites, file_bytes, now}, kMesh, kNear, avoid);
  }
  void expect(SiteId site, int after) const {
    EXPECT_EQ(choose().site, site);
    EXPECT_EQ(choose().arrives - now, seconds(after));
  }
};

TEST(FileSource, HomeIfNobodyElseHasTheFile) {
  SourceWorld world;
  world.expect(kHome, 100);
  world.sites.clear();
  world.expect(kHome, 100);
  world.map.ways.clear();
  world.expect(kHome, 0);
}

TEST(FileSource, TheSiteThatDeliversFirst) {
  SourceWorld world;
  world.sites[1].there = {kMesh};
  world.expect(kPeer, 10);
  world.map.ways[2].bandwidth = 5;  // 200 s
  world.expect(kHome, 100);
  world.map.ways.pop_back();
  world.expect(kHome, 100);
}

TEST(FileSource, AWayThatProvedToBeSlowIsBelievedToBe) {
  SourceWorld world;
  world.sites[1].there = {kMesh};
  forecast::GridForecast seen;
  const auto source = [&] {
    return choose_source({world.map, world.sites, world.file_bytes, world.now, &seen}, kMesh, kNear)
        .site;
  };
  seen.moved(kNear, kPeer, 1e6, world.now, world.now + seconds(1'000'000));  // the other way round
  EXPECT_EQ(source(), kPeer);
  seen.moved(kPeer, kNear, 1e6, world.now, world.now + seconds(200'000));  // 5 bytes a second
  EXPECT_EQ(source(), kHome);
}

TEST(FileSource, AWayMayBeOfOneDirection) {
  SourceWorld world;
  world.sites[1].there = {kMesh};
  world.map.close_way(kNear, kPeer);
  world.expect(kPeer, 10);
  world.map.close_way(kPeer, kNear);
  world.expect(kHome, 100);
  EXPECT_EQ(world.map.way(kPeer, kNear), nullptr);
}

TEST(FileSource, WhatIsUnderWayOnALinkComesFirst) {
  SourceWorld world;
  world.sites[1].there = {kMesh};
  // The other way round it is the same link.
  world.sites[1].moving = {{kOther, kNear, world.now, world.now + seconds(200)}};
  world.expect(kHome, 100);
  world.map.ways[2].streams = 2;
  world.expect(kPeer, 10);
  world.map.ways[2].streams = 1;
  world.sites[0].moving = {{kOther, kHome, world.now, world.now + seconds(150)}};
  world.expect(kPeer, 210);
}

TEST(FileSource, ASiteThatWillHaveItSparesHomeItsLink) {
  SourceWorld world;
  // There after 95 s, and 10 s later here: home would need 100 s, but then sends nothing else.
  world.sites[1].moving = {{kMesh, kHome, world.now, world.now + seconds(95)}};
  world.expect(kPeer, 105);
  world.sites[1].moving[0].arrives = world.now + seconds(101);
  world.expect(kHome, 100);
  world.sites[1].moving[0].arrives = world.now - seconds(5);  // it is late
  world.expect(kPeer, 10);
}

TEST(FileSource, WhereItFailedIsTriedLast) {
  SourceWorld world;
  world.sites[1].there = {kMesh};
  EXPECT_EQ(world.choose(kPeer).site, kHome);
  EXPECT_EQ(world.choose(kHome).site, kPeer);
  world.map.ways[2].bandwidth = 5;
  EXPECT_EQ(world.choose(kHome).site, kPeer);
  world.sites[1].there.clear();
  EXPECT_EQ(world.choose(kHome).site, kHome);
}

TEST(FileSource, AWayThatCarriesNothingTakesAges) {
  SourceWorld world;
  world.map.ways[0].bandwidth = 0;
  EXPECT_GT(world.choose().arrives, world.now + std::chrono::hours(1000));
  world.sites[1].there = {kMesh};
  world.expect(kPeer, 10);
}

}  // namespace
}  // namespace gantry::schedule
