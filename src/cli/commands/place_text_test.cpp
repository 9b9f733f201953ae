#include "cli/commands/place_text.hpp"

#include <gtest/gtest.h>

namespace gantry::cli {
namespace {

using std::chrono::seconds;
using store::LiveState;

const TimePoint kPlaceNow = from_ns(1'794'883'253'000'000'000);

LiveState placed_tasks() {
  LiveState live{.run = 1, .scheduler = "best"};
  live.sites.push_back({.name = "home", .hosts = 1, .hosts_up = 1, .slots = 2, .busy = 2});
  live.sites.push_back({.name = "lab",
                        .hosts = 2,
                        .slots = 1,
                        .busy = 1,
                        .bytes_per_second = 2e6,
                        .sending = "/a/mesh.dat",
                        .sent_part = 0.43});
  live.hosts.push_back({.name = "zeus",
                        .slots = 2,
                        .busy = 2,
                        .tasks = {{17, 2, kPlaceNow - seconds(12)}, {18, 1, kNever}},
                        .pace = 2});
  live.hosts.push_back({.name = "ada", .site = 1, .slots = 1, .busy = 1, .pace = 5});
  live.hosts.push_back({.name = "bob",
                        .site = 1,
                        .condition = HostCondition::lost,
                        .since = kPlaceNow - seconds(75),
                        .why = "it does not answer"});
  live.waits.push_back({.task = 20, .host = 2, .files = {"/a/mesh.dat", "/a/other"}});
  live.waits.push_back({.task = 21, .until = kPlaceNow + seconds(30)});
  return live;
}

std::string told(const LiveState& live, std::uint32_t task, double cost = 1) {
  std::string text;
  for (const auto& line :
       place_lines(query::place_of(live, RunId(1), TaskId(task), cost, kPlaceNow)))
    text += line + "\n";
  return text;
}

TEST(PlaceTextTest, ATaskThatRuns) {
  // Ten times the cost, ten times as long as the pace says.
  EXPECT_EQ(told(placed_tasks(), 17, 10),
            "Attempt 2 runs on zeus (home), for 12.0 s so far.\n"
            "The scheduler best chose the host. Such a task takes 20.0 s there now, 50.0 s on ada "
            "(lab) (1 "
            "of 1 slots busy), as learnt.\n");
}

TEST(PlaceTextTest, TimesAreOfTheTaskAsTheRunCountsIt) {
  LiveState live = placed_tasks();
  live.hosts[0].tasks[0].expected = 4;
  EXPECT_NE(told(live, 17).find("for 12.0 s so far; its forecast was 4.00 s.\n"),
            std::string::npos);
  live.hosts[0].tasks[0].cost = 3;
  EXPECT_NE(told(live, 17, 10).find("takes 6.00 s there now, 15.0 s on ada"), std::string::npos);
  live.hosts[0].pace = 0;
  EXPECT_NE(told(live, 17).find("The scheduler best chose the host. Such a task takes 15.0 s on "
                                "ada (lab) (1 of 1 slots busy), as learnt; not known yet of the "
                                "chosen one.\n"),
            std::string::npos)
      << told(live, 17);
  live.hosts[1].pace = 0;
  EXPECT_NE(told(live, 17).find("best chose the host; nothing is learnt yet.\n"),
            std::string::npos);
}

TEST(PlaceTextTest, MemoryThatIsLearnt) {
  LiveState live = placed_tasks();
  store::LiveTask& task = live.hosts[0].tasks[0];
  EXPECT_EQ(told(live, 17).find("memory"), std::string::npos);
  task.memory = 512U << 20U;
  EXPECT_NE(told(live, 17).find("It was given 512 MiB of memory, as all tasks before "
                                "anything is learnt.\n"),
            std::string::npos);
  task.memory_learnt_from = 40;
  EXPECT_NE(told(live, 17).find("It was given 512 MiB of memory, as learnt from 40 tasks.\n"),
            std::string::npos);
  task.memory_died_with = 256U << 20U;
  EXPECT_NE(
      told(live, 17).find("It was given 512 MiB of memory, because it ran out with 256 MiB.\n"),
      std::string::npos);
}

TEST(PlaceTextTest, ATaskThatWaits) {
  EXPECT_EQ(told(placed_tasks(), 18).substr(0, 53),
            "It is next on zeus (home): 2/2 slots are busy there.\n");
  const std::string files = told(placed_tasks(), 20);
  EXPECT_NE(files.find("It has a place on ada (lab) and waits until its files are there.\n"
                       "/a/mesh.dat is on its way there: 43% at 2 MB/s.\n"
                       "/a/other is on its way there.\n"),
            std::string::npos)
      << files;
  EXPECT_EQ(told(placed_tasks(), 21), "It failed, and is tried again in 30.0 s.\n");
  EXPECT_EQ(told(placed_tasks(), 22),
            "It waits for a slot: all 3 are busy.\n"
            "bob (lab) is lost for 1m15s: it does not answer.\n");
}

TEST(PlaceTextTest, SlotsThatAreFreeMayBeForTasksWhoseFilesTravel) {
  LiveState live = placed_tasks();
  live.sites[0].busy = 0;
  live.staging = 2;
  EXPECT_NE(told(live, 22).find("It waits for a slot: 1 of 3 are busy; others are held for 2 tasks "
                                "whose files are on their way.\n"
                                "/a/mesh.dat is on its way to lab: 43% at 2 MB/s.\n"),
            std::string::npos)
      << told(live, 22);
}

TEST(PlaceTextTest, ATaskWhoseOutputsComeHome) {
  LiveState live = placed_tasks();
  live.hosts[1].arrivals = {{16, 3, kPlaceNow - seconds(7)}};
  live.hosts[1].homeward = live.sites[1].homeward = 1;
  EXPECT_EQ(told(live, 16),
            "Attempt 3 has ended on ada (lab); what it made has been on its way home for 7.00 s.\n"
            "Files go to lab and come from there at 2 MB/s.\n");
  live.sites[1].bytes_per_second = 0;
  EXPECT_NE(told(live, 16).find("Nothing comes from lab at the moment.\n"), std::string::npos);
}

TEST(PlaceTextTest, NoHostsOrNothingMore) {
  LiveState live = placed_tasks();
  for (auto& site : live.sites) site.slots = site.busy = 0;
  live.hosts.erase(live.hosts.begin(), live.hosts.begin() + 2);
  live.waits.clear();
  live.hosts[0].condition = HostCondition::queued;
  EXPECT_EQ(told(live, 22),
            "It waits for a host: none is up.\n1 job still in the queue of a batch system.\n");
  live.draining = "interrupted";
  EXPECT_EQ(told(live, 22), "Nothing more is started: interrupted.\n");
}

TEST(PlaceTextTest, AnythingThatAReaderGives) {
  LiveState live;
  EXPECT_FALSE(told(live, 1).empty());
  live.hosts.push_back({.name = "a\x1b[2J", .site = 9, .tasks = {{1, 1, kPlaceNow + seconds(5)}}});
  live.waits.push_back({.task = 2, .host = 77, .files = {"b\n"}});
  live.waits.push_back({.task = 3, .host = 1, .files = {"b\n\x1b"}});
  for (const std::uint32_t task : {1, 2, 3})
    EXPECT_EQ(told(live, task).find('\x1b'), std::string::npos) << task;
}

}  // namespace
}  // namespace gantry::cli
