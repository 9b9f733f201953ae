// Shared files: a task starts where its files are, and only there.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "engine/engine_files_fixture.hpp"
#include "engine/one_run.hpp"
#include "schedule/registry.hpp"

namespace gantry::engine {
namespace {

using std::chrono::seconds;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

struct Site {
  OneRun engine;
  explicit Site(const std::vector<std::vector<FileId>>& files) : engine(reading(files), {}) {
    engine.apply(HostUp{host_at(1, kLab)});
  }
  std::vector<std::string> decide(int s) { return words(engine.decide(at(s))); }
};

TEST(EngineFiles, ATaskHoldsItsPlaceUntilItsFilesAreThere) {
  Site lab({{FileId(0), FileId(2)}, {FileId(2)}});
  EXPECT_THAT(lab.decide(0),
              ElementsAre("move 0 from 0 to 1", "move 2 from 0 to 1"));  // task 2 waits for it too
  EXPECT_EQ(lab.engine.counts().staging, 2U);
  EXPECT_FALSE(lab.engine.finished());
  lab.engine.apply(FileArrived{FileId(2), kLab, at(5)});
  EXPECT_THAT(lab.decide(5), ElementsAre("start 2 on 1"));
  lab.engine.apply(FileArrived{FileId(0), kLab, at(9)});
  EXPECT_THAT(lab.decide(9), ElementsAre("start 1 on 1"));
}

TEST(EngineFiles, NothingMovesWhenTheFilesAreThereOrTheHostIsAtHome) {
  Site lab({{FileId(1)}});
  lab.engine.apply(FileArrived{FileId(1), kLab, at(0)});
  EXPECT_THAT(lab.decide(0), ElementsAre("start 1 on 1"));

  OneRun home(reading({{FileId(1)}}), {});
  home.apply(HostUp{host_at(1, kHome)});
  EXPECT_THAT(words(home.decide(at(0))), ElementsAre("start 1 on 1"));
}

TEST(EngineFiles, AFailedMoveGivesThePlaceBackAndIsTriedAgainLater) {
  Site lab({{FileId(1)}});
  EXPECT_THAT(lab.decide(0), ElementsAre("move 1 from 0 to 1"));
  lab.engine.apply(MoveFailed{FileId(1), kLab, "no route", at(10)});
  EXPECT_EQ(lab.engine.state(TaskId(1)), TaskState::pending);
  EXPECT_THAT(lab.decide(10), IsEmpty());
  EXPECT_EQ(lab.engine.next_wakeup(), at(11));
  EXPECT_THAT(lab.decide(11), ElementsAre("move 1 from 0 to 1"));
  lab.engine.apply(MoveFailed{FileId(1), kLab, "no route", at(12)});
  EXPECT_THAT(lab.decide(13), IsEmpty());
  EXPECT_EQ(lab.engine.next_wakeup(), at(14));
}

/// Every strategy has to see it: a host that waits in vain keeps the task from the others.
TEST(EngineFiles, AFileThatCannotBeSentToASiteIsSentToAnother) {
  for (const std::string_view name : schedule::strategy_names()) {
    OneRun engine(reading({{FileId(1)}}), {}, schedule::make_scheduler(std::string(name)).value());
    engine.apply(HostUp{host_at(1, kLab)});
    engine.apply(HostUp{host_at(2, SiteId(2))});
    std::set<std::string> moves;
    for (int now = 0; now < 100 && moves.size() < 2; ++now)
      for (const Action& action : engine.decide(at(now))) {
        moves.insert(words({action}).front());
        if (const auto* move = std::get_if<MoveFile>(&action))
          engine.apply(MoveFailed{move->file, move->to, "disk full", at(now)});
      }
    EXPECT_THAT(moves, ElementsAre("move 1 from 0 to 1", "move 1 from 0 to 2")) << name;
  }
}

TEST(EngineFiles, WhatWasThereAlreadySaysNothingOfTheLink) {
  for (const bool found : {true, false}) {
    Site lab({{FileId(1)}});
    EXPECT_THAT(lab.decide(0), ElementsAre("move 1 from 0 to 1"));
    lab.engine.apply(FileArrived{FileId(1), kLab, at(4), found});
    EXPECT_THAT(lab.decide(4), ElementsAre("start 1 on 1"));
    EXPECT_EQ(lab.engine.seen().bandwidth(kLab).has_value(), !found);
  }
}

TEST(EngineFiles, AFileThatIsGoneIsSentAgain) {
  Site lab({{FileId(0), FileId(1)}});
  EXPECT_THAT(lab.decide(0), ElementsAre("move 0 from 0 to 1", "move 1 from 0 to 1"));
  lab.engine.apply(FileArrived{FileId(0), kLab, at(1)});
  lab.engine.apply(FileGone{FileId(0), kLab});
  lab.engine.apply(FileArrived{FileId(1), kLab, at(2)});
  EXPECT_THAT(lab.decide(2), ElementsAre("move 0 from 0 to 1"));
}

TEST(EngineFiles, AHostThatGoesTakesNoStagedTaskWithIt) {
  Site lab({{FileId(0)}});
  EXPECT_THAT(lab.decide(0), ElementsAre("move 0 from 0 to 1"));
  lab.engine.apply(HostDown{HostId(1)});
  EXPECT_EQ(lab.engine.state(TaskId(1)), TaskState::pending);
  lab.engine.apply(HostUp{host_at(2, kCluster)});
  EXPECT_THAT(lab.decide(1), ElementsAre("move 0 from 0 to 2"));
  lab.engine.apply(FileArrived{FileId(0), kLab, at(2)});
  EXPECT_THAT(lab.decide(2), IsEmpty());
  lab.engine.apply(FileArrived{FileId(0), kCluster, at(3)});
  EXPECT_THAT(lab.decide(3), ElementsAre("start 1 on 2"));
}

TEST(EngineFiles, AHostThatDrainsKeepsNoStagedTask) {
  Site lab({{FileId(0)}});
  EXPECT_THAT(lab.decide(0), ElementsAre("move 0 from 0 to 1"));
  lab.engine.apply(HostDraining{HostId(1)});
  EXPECT_EQ(lab.engine.state(TaskId(1)), TaskState::pending);
  lab.engine.apply(FileArrived{FileId(0), kLab, at(1)});
  EXPECT_THAT(lab.decide(1), IsEmpty());
}

TEST(EngineFiles, ASiteThatJoinsHasItsOwnDepot) {
  Site lab({{FileId(2)}});  // 3 MB
  lab.engine.apply(HostDown{HostId(1)});
  lab.engine.apply(SiteJoined{.site = kCluster, .depot = 2e6});
  lab.engine.apply(HostUp{host_at(2, kCluster)});
  EXPECT_THAT(lab.engine.unplaceable(), testing::HasSubstr("the largest depot holds"));
  lab.engine.apply(
      SiteJoined{.site = SiteId(3), .depot = 4e6, .way = Way{kHome, SiteId(3), 1e6, 0, 1}});
  lab.engine.apply(HostUp{host_at(3, SiteId(3))});
  EXPECT_EQ(lab.engine.unplaceable(), "");
  EXPECT_THAT(lab.decide(0), ElementsAre("move 2 from 0 to 3"));
  EXPECT_EQ(lab.engine.site_files(at(1)).back().moving.front().arrives, at(3)) << "by its way";
}

TEST(EngineFiles, OutputsOnTheirWayHomeDoNotKeepTheHost) {
  OneRun engine(Workload{.count = 9}, {});
  engine.apply(HostUp{host_at(1, kHome)});
  EXPECT_THAT(words(engine.decide(at(0))), SizeIs(2));  // one runs, one lies ahead
  const TaskKey first{RunId(1), TaskId(1), AttemptId(1)};
  engine.apply(AttemptStarted{first, HostId(1), at(0)});
  engine.apply(AttemptComputed{first, HostId(1)});
  EXPECT_THAT(words(engine.decide(at(5))), ElementsAre("start 3 on 1"));
  EXPECT_EQ(engine.state(TaskId(1)), TaskState::running);
  engine.apply(AttemptComputed{first, HostId(1)});  // told twice
  EXPECT_THAT(words(engine.decide(at(6))), IsEmpty());
}

TEST(EngineFiles, CancellingAndDrainingEndTheWait) {
  Site lab({{FileId(0)}, {FileId(0)}});
  EXPECT_THAT(lab.decide(0), ElementsAre("move 0 from 0 to 1"));
  lab.engine.apply(CancelRequested{RunId(1), false, {TaskId(1)}, at(1)});
  EXPECT_EQ(lab.engine.state(TaskId(1)), TaskState::cancelled);
  lab.engine.apply(DrainRequested{RunId(1), {}});
  EXPECT_THAT(lab.decide(1), IsEmpty());
  EXPECT_EQ(lab.engine.state(TaskId(2)), TaskState::pending);
  EXPECT_TRUE(lab.engine.finished());
  lab.engine.apply(FileArrived{FileId(0), kLab, at(3)});
  EXPECT_THAT(lab.decide(3), IsEmpty());
}

TEST(EngineFiles, AnAttemptFoundRunningIsAdoptedOutOfTheStage) {
  Site lab({{FileId(0)}});
  EXPECT_THAT(lab.decide(0), ElementsAre("move 0 from 0 to 1"));
  lab.engine.apply(AttemptStarted{{RunId(1), TaskId(1), AttemptId(4)}, HostId(1), at(1)});
  EXPECT_EQ(lab.engine.state(TaskId(1)), TaskState::running);
  lab.engine.apply(FileArrived{FileId(0), kLab, at(2)});
  EXPECT_THAT(lab.decide(2), IsEmpty());
}

TEST(EngineFiles, AStrategySeesHowFastHostsAndLinksWere) {
  schedule::Plan next;
  auto strategy = std::make_unique<Scripted>(&next);
  Scripted& scripted = *strategy;
  OneRun engine(reading({{FileId(0)}, {FileId(0)}, {FileId(0)}}), {}, std::move(strategy));
  engine.apply(HostUp{host_at(1, kLab)});
  next.starts = {{schedule::ClassId(1), HostId(1)}};
  EXPECT_THAT(words(engine.decide(at(0))), ElementsAre("move 0 from 0 to 1"));
  EXPECT_EQ(scripted.bandwidth, std::nullopt);
  engine.apply(FileArrived{FileId(0), kLab, at(10)});  // 1 MB
  EXPECT_THAT(words(engine.decide(at(10))), ElementsAre("start 1 on 1"));
  EXPECT_DOUBLE_EQ(scripted.bandwidth.value(), 1e5);

  const auto end = [&](std::uint32_t task, FailureCause cause, int from, int until) {
    AttemptEnded ended;
    ended.report.key = {RunId(1), TaskId(task), AttemptId(1)};
    ended.report.cause = cause;
    ended.report.started = at(from);
    ended.report.ended = at(until);
    ended.host = HostId(1);
    engine.apply(ended);
  };
  end(1, FailureCause::none, 10, 14);
  next.starts = {{schedule::ClassId(1), HostId(1)}};
  EXPECT_THAT(words(engine.decide(at(14))), ElementsAre("start 2 on 1"));
  EXPECT_DOUBLE_EQ(scripted.pace.value(), 4);
  end(2, FailureCause::exit_code, 14, 15);  // no faster for that
  EXPECT_THAT(words(engine.decide(at(15))), IsEmpty());
  EXPECT_DOUBLE_EQ(scripted.pace.value(), 4);
}

TEST(EngineFiles, WhatAStrategyWantsIsCheckedAgainstTheWorld) {
  schedule::Plan next;
  auto strategy = std::make_unique<Scripted>(&next);
  Scripted& scripted = *strategy;
  OneRun engine(reading({{FileId(0)}}), {}, std::move(strategy));
  engine.apply(HostUp{host_at(1, kLab)});
  next.moves = {{FileId(0), kCluster, kLab},  // is not there
                {FileId(7), kHome, kLab},     // does not exist
                {FileId(0), kHome, kHome},    // is there
                {FileId(0), kHome, kLab},
                {FileId(0), kHome, kLab}};  // is on its way
  next.starts = {{schedule::ClassId(9), HostId(1)}, {schedule::ClassId(1), HostId(5)}};
  next.ask_again = at(60);
  EXPECT_THAT(words(engine.decide(at(0))), ElementsAre("move 0 from 0 to 1"));
  EXPECT_EQ(engine.next_wakeup(), at(60));
  EXPECT_THAT(words(engine.decide(at(1))), IsEmpty());
  using enum schedule::RefusalReason;
  using schedule::ClassId;
  using schedule::Intent;
  using schedule::Refused;
  EXPECT_THAT(scripted.refused,
              ElementsAre(Refused{Intent{ClassId(9), HostId(1)}, class_gone},
                          Refused{Intent{ClassId(1), HostId(5)}, host_gone},
                          Refused{MoveFile{FileId(0), kCluster, kLab}, no_source},
                          Refused{MoveFile{FileId(7), kHome, kLab}, files_cannot_come},
                          Refused{MoveFile{FileId(0), kHome, kHome}, already_coming},
                          Refused{MoveFile{FileId(0), kHome, kLab}, already_coming}));
  next.moves = {{FileId(0), kLab, kCluster}};
  EXPECT_THAT(words(engine.decide(at(2))), IsEmpty());
  engine.apply(FileArrived{FileId(0), kLab, at(3)});
  next.moves = {{FileId(0), kLab, kCluster}};
  EXPECT_THAT(words(engine.decide(at(3))), ElementsAre("move 0 from 1 to 2"));
}

TEST(EngineFiles, AStrategyKnowsHowManyTasksWaitBeyondThoseItSees) {
  schedule::Plan next;
  auto strategy = std::make_unique<Scripted>(&next);
  Scripted& scripted = *strategy;
  OneRun engine({.count = 1000}, {}, std::move(strategy));
  engine.apply(HostUp{host_at(1, kHome)});
  next.starts = {{schedule::ClassId(1), HostId(1)}};
  EXPECT_THAT(words(engine.decide(at(0))), ElementsAre("start 1 on 1"));
  EXPECT_EQ(scripted.ready, 256U);
  EXPECT_EQ(scripted.ahead, 744U);
  engine.apply(HostUp{host_at(2, kHome)});  // the first is full
  engine.apply(CancelRequested{RunId(1), false, {TaskId(2), TaskId(900)}, at(1)});
  EXPECT_THAT(words(engine.decide(at(1))), IsEmpty());
  EXPECT_EQ(scripted.ready + scripted.ahead, 997U);
  EXPECT_EQ(scripted.ready, 256U);
}

TEST(EngineFiles, AHostThatCannotTakeATaskSaysWhy) {
  schedule::Plan next;
  auto strategy = std::make_unique<Scripted>(&next);
  Scripted& scripted = *strategy;
  Workload workload = reading({{FileId(0)}, {FileId(0)}, {FileId(0)}});
  workload.resources = [](TaskId) { return Resources{.walltime = std::chrono::minutes(30)}; };
  // File 0 has 1 MB, which the depot of the cluster does not hold.
  OneRun engine(workload, {.max_fails = 1}, std::move(strategy), {.depots = {0, 9e6, 1e3}});
  Host lent = host_at(3, kHome);
  lent.lent_for = std::chrono::hours(1);
  lent.until = at(60 * 20);
  for (const Host& host :
       {host_at(1, kHome), host_at(2, kHome), lent, host_at(4, kCluster), host_at(5, kHome)})
    engine.apply(HostUp{host});
  engine.apply(HostDraining{HostId(5)});
  for (const std::uint32_t host : {1U, 1U, 3U, 4U, 5U})
    next.starts.push_back({schedule::ClassId(1), HostId(host)});
  EXPECT_THAT(words(engine.decide(at(0))), ElementsAre("start 1 on 1"));
  EXPECT_THAT(words(engine.decide(at(1))), IsEmpty());
  std::vector<schedule::RefusalReason> reasons;
  for (const schedule::Refused& each : scripted.refused) reasons.push_back(each.why);
  using enum schedule::RefusalReason;
  EXPECT_THAT(reasons, ElementsAre(no_room, no_time_left, files_cannot_come, host_draining));
}

}  // namespace
}  // namespace gantry::engine
