#include "query/task_place.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gantry::query {
namespace {

using std::chrono::seconds;
using store::LiveState;
using Stage = TaskAtHost::Stage;

const TimePoint kNow = from_ns(1'794'883'253'000'000'000);

/// Two sites. Task 17 runs at home and 18 is next there, 20 waits for files, 21 for its back-off.
LiveState example() {
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
                        .tasks = {{17, 2, kNow - seconds(12)}, {18, 1, kNever}},
                        .pace = 2});
  live.hosts.push_back({.name = "ada", .site = 1, .slots = 1, .busy = 1, .pace = 5});
  live.hosts.push_back({.name = "bob",
                        .site = 1,
                        .condition = HostCondition::lost,
                        .since = kNow - seconds(75),
                        .why = "it does not answer",
                        .pace = 1});
  live.waits.push_back({.task = 20, .host = 2, .files = {"/a/mesh.dat", "/a/other"}});
  live.waits.push_back({.task = 21, .until = kNow + seconds(30)});
  return live;
}

TaskPlace place(const LiveState& live, std::uint32_t task, double cost = 1) {
  return place_of(live, RunId(1), TaskId(task), cost, kNow);
}

TEST(TaskPlaceTest, ATaskThatRunsAndWhatElseWasToChoose) {
  const TaskPlace found = place(example(), 17, 10);
  EXPECT_TRUE(found.is_running());
  EXPECT_EQ(found.scheduler, "best");
  EXPECT_FALSE(found.one_site);
  ASSERT_EQ(found.at.size(), 1U);
  const TaskAtHost& at = found.at[0];
  EXPECT_EQ(at.stage, Stage::running);
  EXPECT_EQ(at.task.attempt, 2U);
  EXPECT_EQ(at.since, Duration(seconds(12)));
  EXPECT_EQ(at.host.name, "zeus");
  EXPECT_EQ(at.host.site, "home");
  EXPECT_EQ(at.host.seconds, 20) << "ten times the cost at a pace of 2 s";
  EXPECT_TRUE(at.was_chosen);
  ASSERT_EQ(at.others.size(), 1U) << "bob is fast, but lost";
  EXPECT_EQ(at.others[0].name, "ada");
  EXPECT_EQ(at.others[0].seconds, 50);
}

TEST(TaskPlaceTest, TasksOfSeveralRunsHaveTheSameNumbers) {
  LiveState live = example();
  live.runs = {{.run = 1}, {.run = 2, .draining = "interrupted"}};
  live.hosts[1].tasks = {{.task = 17, .attempt = 1, .started = kNow - seconds(3), .run = 2}};
  EXPECT_EQ(place(live, 17).at.front().host.name, "zeus");
  const TaskPlace others = place_of(live, RunId(2), TaskId(17), 1, kNow);
  ASSERT_EQ(others.at.size(), 1U);
  EXPECT_EQ(others.at[0].host.name, "ada");
  const TaskPlace waits = place_of(live, RunId(2), TaskId(20), 1, kNow);
  ASSERT_TRUE(waits.slot_wait) << "run 1 has a task 20 that waits for files";
  EXPECT_EQ(waits.slot_wait->draining, "interrupted");
  EXPECT_EQ(place(live, 1).slot_wait->draining, "");
}

TEST(TaskPlaceTest, TheRunsOwnCostCountsBeforeTheStudys) {
  LiveState live = example();
  live.hosts[0].tasks[0].cost = 3;
  EXPECT_EQ(place(live, 17, 10).at[0].host.seconds, 6);
  EXPECT_EQ(place(live, 18, 10).at[0].host.seconds, 20);
}

TEST(TaskPlaceTest, TwoAttemptsOfATaskMayRun) {
  LiveState live = example();
  live.hosts[1].tasks = {{17, 3, kNow - seconds(1)}};
  const TaskPlace found = place(live, 17);
  ASSERT_EQ(found.at.size(), 2U);
  EXPECT_EQ(found.at[1].host.name, "ada");
}

TEST(TaskPlaceTest, ATaskThatWaits) {
  EXPECT_FALSE(place(example(), 18).is_running());
  EXPECT_EQ(place(example(), 18).at.at(0).stage, Stage::next);

  const TaskPlace files = place(example(), 20);
  EXPECT_FALSE(files.is_running());
  ASSERT_EQ(files.at.size(), 1U);
  EXPECT_EQ(files.at[0].stage, Stage::awaits_files);
  EXPECT_EQ(files.at[0].host.name, "ada");
  ASSERT_EQ(files.at[0].files.size(), 2U);
  EXPECT_TRUE(files.at[0].files[0].moves);
  EXPECT_EQ(files.at[0].files[0].part, 0.43);
  EXPECT_FALSE(files.at[0].files[1].moves);

  const TaskPlace back_off = place(example(), 21);
  EXPECT_THAT(back_off.at, testing::IsEmpty());
  EXPECT_EQ(back_off.tried_again_in, Duration(seconds(30)));
  EXPECT_FALSE(back_off.slot_wait);
}

TEST(TaskPlaceTest, ATaskThatNoHostHas) {
  const TaskPlace found = place(example(), 22);
  EXPECT_FALSE(found.is_running());
  ASSERT_TRUE(found.slot_wait);
  EXPECT_EQ(found.slot_wait->slots, 3U);
  EXPECT_EQ(found.slot_wait->busy, 3U);
  ASSERT_EQ(found.slot_wait->absent.size(), 1U);
  EXPECT_EQ(found.slot_wait->absent[0].name, "bob");
  EXPECT_EQ(found.slot_wait->absent[0].since, Duration(seconds(75)));
  ASSERT_EQ(found.slot_wait->transfers.size(), 1U);
  EXPECT_EQ(found.slot_wait->transfers[0].site, "lab");
}

TEST(TaskPlaceTest, OutputsThatComeHomeCountAsRunning) {
  LiveState live = example();
  live.hosts[1].arrivals = {{16, 3, kNow - seconds(7)}};
  live.sites[1].homeward = 4;
  const TaskPlace found = place(live, 16);
  EXPECT_TRUE(found.is_running());
  EXPECT_EQ(found.at.at(0).stage, Stage::coming_home);
  EXPECT_EQ(found.at[0].since, Duration(seconds(7)));
  EXPECT_EQ(found.at[0].homeward, 4U);
  EXPECT_EQ(found.at[0].link_bytes_per_second, 2e6);
}

TEST(TaskPlaceTest, PlacesThatAreNotThereAreNotBelieved) {
  LiveState live = example();
  live.waits = {{.task = 2, .host = 77}};
  live.hosts[0].site = 9;
  EXPECT_TRUE(place(live, 2).slot_wait);
  EXPECT_EQ(place(live, 17).at.at(0).host.site, "");
}

}  // namespace
}  // namespace gantry::query
