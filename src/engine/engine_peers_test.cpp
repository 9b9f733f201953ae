// Files from other sites than home.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/engine_files_fixture.hpp"
#include "schedule/registry.hpp"

namespace gantry::engine {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// A host at the lab (1) and one at the cluster (2). A megabyte takes a second from home, and a
/// hundredth from one to the other.
struct Neighbours {
  OneRun engine;

  explicit Neighbours(const std::vector<std::vector<FileId>>& files,
                      std::vector<double> depots = {})
      : engine(reading(files), {}, schedule::make_scheduler(schedule::kDefaultStrategy).value(),
               {.depots = std::move(depots),
                .ways = {{kHome, kLab, 1e6}, {kHome, kCluster, 1e6}, {kLab, kCluster, 1e8}}}) {
    engine.apply(HostUp{host_at(1, kLab)});
    engine.apply(HostUp{host_at(2, kCluster)});
  }
  std::vector<std::string> decide(int s) { return words(engine.decide(at(s))); }
  void arrive(int s, std::uint32_t file, SiteId site) {
    engine.apply(FileArrived{FileId(file), site, at(s)});
  }
};

TEST(EnginePeers, AFileComesFromTheSiteThatDeliversFirst) {
  Neighbours sites({{FileId(0)}, {FileId(0)}});
  sites.arrive(0, 0, kLab);
  EXPECT_THAT(sites.decide(0), ElementsAre("start 1 on 1", "move 0 from 1 to 2"));
}

TEST(EnginePeers, ASiteWaitsForItsNeighbourRatherThanForHome) {
  Neighbours sites({{FileId(0)}, {FileId(0)}});
  EXPECT_THAT(sites.decide(0), ElementsAre("move 0 from 0 to 1"));
  EXPECT_EQ(sites.engine.counts().staging, 2U);
  sites.arrive(1, 0, kLab);
  EXPECT_THAT(sites.decide(1), ElementsAre("move 0 from 1 to 2", "start 1 on 1"));
  sites.arrive(2, 0, kCluster);
  EXPECT_THAT(sites.decide(2), ElementsAre("start 2 on 2"));
}

TEST(EnginePeers, AMoveThatFailedIsTriedFromElsewhere) {
  Neighbours sites({{FileId(0)}, {FileId(0)}});
  sites.arrive(0, 0, kLab);
  EXPECT_THAT(sites.decide(0), ElementsAre("start 1 on 1", "move 0 from 1 to 2"));
  sites.engine.apply(MoveFailed{FileId(0), kCluster, "lab is gone", at(1)});
  EXPECT_THAT(sites.decide(1), IsEmpty());
  EXPECT_THAT(sites.decide(2), ElementsAre("move 0 from 0 to 2"));
}

TEST(EnginePeers, AWayThatIsClosedIsNotTakenAgain) {
  Neighbours sites({{FileId(0)}, {FileId(0)}});
  sites.arrive(0, 0, kLab);
  EXPECT_THAT(sites.decide(0), ElementsAre("start 1 on 1", "move 0 from 1 to 2"));
  sites.engine.apply(WayClosed{kLab, kCluster});
  sites.engine.apply(WayClosed{kHome, kCluster});  // of which there is no other
  sites.engine.apply(FileGone{FileId(0), kCluster});
  EXPECT_THAT(sites.decide(1), ElementsAre("move 0 from 0 to 2"));
}

TEST(EnginePeers, WhoWaitedForANeighbourThatGotNothingAsksAgain) {
  for (const bool gone : {false, true}) {
    Neighbours sites({{FileId(0)}, {FileId(0)}});
    EXPECT_THAT(sites.decide(0), ElementsAre("move 0 from 0 to 1"));
    if (gone)
      sites.engine.apply(FileGone{FileId(0), kLab});
    else
      sites.engine.apply(MoveFailed{FileId(0), kLab, "no route", at(1)});
    EXPECT_EQ(sites.engine.counts().staging, 0U);
    const auto again = sites.decide(1);
    EXPECT_THAT(again, ElementsAre(gone ? "move 0 from 0 to 1" : "move 0 from 0 to 2"));
  }
}

TEST(EnginePeers, ASourceKeepsTheFileUntilTheMoveIsOver) {
  // The lab holds file 0 or file 1.
  Neighbours sites({{FileId(0)}, {FileId(0)}, {FileId(1)}, {FileId(1)}}, {0, 2e6});
  sites.arrive(0, 0, kLab);
  EXPECT_THAT(sites.decide(0),
              ElementsAre("start 1 on 1", "move 0 from 1 to 2", "move 1 from 0 to 2"));
  AttemptEnded ended;
  ended.report.key = {RunId(1), TaskId(1), AttemptId(1)};
  ended.host = HostId(1);
  sites.engine.apply(ended);
  EXPECT_THAT(sites.decide(1), IsEmpty());
  sites.arrive(2, 0, kCluster);
  EXPECT_THAT(sites.decide(2),
              ElementsAre("start 2 on 2", "drop 0 at 1"));  // file 1 comes from the cluster
  sites.arrive(3, 1, kCluster);
  EXPECT_THAT(sites.decide(3), ElementsAre("move 1 from 2 to 1", "start 3 on 2"));
}

TEST(EnginePeers, WhatAStrategyWantsFromHomeComesFromElsewhereAndItMayGoOn) {
  schedule::Plan next;
  OneRun engine(reading({{FileId(0)}}), {}, std::make_unique<Scripted>(&next),
                {.ways = {{kHome, kLab, 1e6}, {kHome, kCluster, 1e6}, {kLab, kCluster, 1e8}}});
  engine.apply(HostUp{host_at(1, kLab)});
  engine.apply(FileArrived{FileId(0), kCluster, at(0)});
  next.moves = {{FileId(0), kHome, kLab}};
  EXPECT_THAT(words(engine.decide(at(0))), ElementsAre("move 0 from 2 to 1"));
  // At its word, where there is a way.
  engine.apply(FileArrived{FileId(1), kLab, at(1)});
  next.moves = {{FileId(1), kLab, kCluster}, {FileId(1), kLab, SiteId(3)}};
  EXPECT_THAT(words(engine.decide(at(1))), ElementsAre("move 1 from 1 to 2"));
}

}  // namespace
}  // namespace gantry::engine
