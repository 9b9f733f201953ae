// Depots with a limit: what is dropped, for whom, and what never is.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/engine_files_fixture.hpp"

namespace gantry::engine {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// Two hosts at a site whose depot holds 3 MB; files 0, 1 and 2 have 1, 2 and 3 MB.
struct SmallDepot {
  schedule::Plan next;
  OneRun engine;

  explicit SmallDepot(const std::vector<std::vector<FileId>>& files, double depot = 3e6)
      : engine(reading(files), {}, std::make_unique<Scripted>(&next), {.depots = {0, depot}}) {
    engine.apply(HostUp{host_at(1, kLab)});
    engine.apply(HostUp{host_at(2, kLab)});
  }
  std::vector<std::string> decide(int s) { return words(engine.decide(at(s))); }
  std::vector<std::string> start(int s, std::uint32_t task_class, std::uint32_t host) {
    next.starts = {{schedule::ClassId(task_class), HostId(host)}};
    return decide(s);
  }
  std::vector<std::string> send_ahead(int s, std::uint32_t file) {
    next.moves = {{FileId(file), kHome, kLab}};
    engine.apply(HostUp{host_at(2, kLab)});  // something to ask the strategy for
    return decide(s);
  }
  void arrive(int s, std::uint32_t file) { engine.apply(FileArrived{FileId(file), kLab, at(s)}); }
  void end(int s, std::uint32_t task) {
    AttemptEnded ended;
    ended.report.key = {RunId(1), TaskId(task), AttemptId(1)};
    ended.report.started = at(s - 1);
    ended.report.ended = at(s);
    ended.host = HostId(1);
    engine.apply(ended);
  }
};

TEST(EngineDepots, ATaskGetsRoomForAllItsFilesOrForNone) {
  SmallDepot lab({{FileId(0), FileId(1)}, {FileId(0), FileId(2)}}, 4e6);
  EXPECT_THAT(lab.start(0, 1, 1), ElementsAre("move 0 from 0 to 1", "move 1 from 0 to 1"));
  EXPECT_THAT(lab.start(1, 2, 2), IsEmpty());  // 1 MB is free, 3 would have to be
  EXPECT_EQ(lab.engine.state(TaskId(2)), TaskState::pending);
  lab.arrive(2, 0);
  lab.arrive(2, 1);
  EXPECT_THAT(lab.start(2, 2, 2), ElementsAre("start 1 on 1"));  // which reads both
  lab.end(3, 1);
  EXPECT_THAT(lab.start(3, 2, 2), ElementsAre("drop 1 at 1", "move 2 from 0 to 1"));
}

TEST(EngineDepots, WhatIsOnItsWayIsNotDropped) {
  SmallDepot lab({{FileId(0)}, {FileId(2)}});
  EXPECT_THAT(lab.send_ahead(0, 0), ElementsAre("move 0 from 0 to 1"));
  EXPECT_THAT(lab.start(1, 2, 1), IsEmpty());
  lab.arrive(2, 0);
  EXPECT_THAT(lab.start(2, 2, 1), ElementsAre("drop 0 at 1", "move 2 from 0 to 1"));
}

TEST(EngineDepots, FirstGoesWhatNoTaskWillReadThenWhatWasNotUsedForLongest) {
  SmallDepot lab({{FileId(1)}, {FileId(0)}, {FileId(0)}, {FileId(2)}}, 5e6);
  lab.arrive(0, 1);
  lab.arrive(0, 0);
  EXPECT_THAT(lab.start(0, 1, 1), ElementsAre("start 1 on 1"));
  lab.end(1, 1);  // nobody reads file 1 any more; it was used last
  EXPECT_THAT(lab.start(1, 3, 1), ElementsAre("drop 1 at 1", "move 2 from 0 to 1"));

  SmallDepot both({{FileId(0)}, {FileId(0)}, {FileId(1)}, {FileId(2)}}, 4e6);
  both.arrive(0, 1);
  both.arrive(0, 0);
  EXPECT_THAT(both.start(0, 3, 1), ElementsAre("drop 1 at 1", "move 2 from 0 to 1"));
}

TEST(EngineDepots, WhatIsSentAheadPushesOutNothingThatATaskWillRead) {
  SmallDepot lab({{FileId(0)}, {FileId(1)}, {FileId(2)}});
  EXPECT_THAT(lab.send_ahead(0, 1), ElementsAre("move 1 from 0 to 1"));
  lab.arrive(1, 1);
  EXPECT_THAT(lab.send_ahead(1, 2), IsEmpty());
  EXPECT_THAT(lab.send_ahead(1, 0), ElementsAre("move 0 from 0 to 1"));  // is free
  lab.arrive(2, 0);
  EXPECT_THAT(lab.start(2, 2, 1), ElementsAre("start 2 on 1"));
  EXPECT_THAT(lab.send_ahead(3, 2), IsEmpty());
  lab.end(4, 2);
  EXPECT_THAT(lab.start(4, 1, 1), ElementsAre("start 1 on 1"));
  lab.end(5, 1);
  EXPECT_THAT(lab.send_ahead(5, 2),
              ElementsAre("drop 1 at 1", "drop 0 at 1", "move 2 from 0 to 1"));
}

TEST(EngineDepots, ATaskThatWaitsForTheWholeDepotIsNotOvertakenForEver) {
  SmallDepot lab({{FileId(2)}});
  EXPECT_THAT(lab.send_ahead(0, 0), ElementsAre("move 0 from 0 to 1"));
  EXPECT_THAT(lab.start(1, 1, 1), IsEmpty());
  EXPECT_THAT(lab.send_ahead(2, 1), IsEmpty());  // there is room, but a task waits for it
  lab.arrive(3, 0);
  EXPECT_THAT(lab.start(3, 1, 1), ElementsAre("drop 0 at 1", "move 2 from 0 to 1"));
}

TEST(EngineDepots, AFailedMoveGivesItsRoomBack) {
  SmallDepot lab({{FileId(2)}, {FileId(0), FileId(1)}});
  EXPECT_THAT(lab.start(0, 1, 1), ElementsAre("move 2 from 0 to 1"));
  lab.engine.apply(MoveFailed{FileId(2), kLab, "no route", at(1)});
  EXPECT_THAT(lab.start(1, 2, 1), ElementsAre("move 0 from 0 to 1", "move 1 from 0 to 1"));
}

/// Home's file has changed when another run comes to read it.
TEST(EngineDepots, AFileThatChangesItsSizeTakesAsMuchRoomAsItHas) {
  SmallDepot shrunk({{FileId(0)}, {FileId(2)}});
  shrunk.arrive(0, 0);
  shrunk.engine.apply(FileMade{FileId(0), kHome, 0.5e6});
  EXPECT_THAT(shrunk.start(1, 2, 1), ElementsAre("drop 0 at 1", "move 2 from 0 to 1"))
      << "without file 0 the depot is empty";

  SmallDepot grown({{FileId(0)}, {FileId(1)}});
  grown.arrive(0, 0);
  grown.engine.apply(FileMade{FileId(0), kHome, 2e6});
  EXPECT_THAT(grown.start(1, 2, 1), ElementsAre("drop 0 at 1", "move 1 from 0 to 1"))
      << "it does not hold twice 2 MB";
}

TEST(EngineDepots, ATaskThatNoDepotHoldsFitsNoHost) {
  SmallDepot lab({{FileId(0)}, {FileId(0), FileId(2)}});
  EXPECT_EQ(lab.engine.unplaceable(),
            "task 2 reads 3.815 MiB of shared files, the largest depot holds 2.861 MiB");
  EXPECT_THAT(lab.start(0, 2, 1), IsEmpty());
  lab.engine.apply(HostUp{host_at(3, kHome)});  // where all files are
  EXPECT_EQ(lab.engine.unplaceable(), "");
  EXPECT_THAT(lab.start(1, 2, 3), ElementsAre("start 2 on 3"));
}

TEST(EngineDepots, ARunOfTasksThatFitNowhereEnds) {
  SmallDepot lab({{FileId(0), FileId(2)}});
  EXPECT_THAT(lab.decide(0), IsEmpty());
  EXPECT_TRUE(lab.engine.finished());
  EXPECT_EQ(lab.engine.draining(),
            "task 1 reads 3.815 MiB of shared files, the largest depot holds 2.861 MiB");
}

}  // namespace
}  // namespace gantry::engine
