#include "store/live_state.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "base/scratch_dir.hpp"
#include "store/run_lock.hpp"

namespace gantry::store {
namespace {

LiveState example() {
  LiveState state{.pid = 42,
                  .at = from_ns(1'794'883'253'903'000'000),
                  .run = 3,
                  .scheduler = "best",
                  .counts = {.total = 100, .done = 7, .failed = 1, .running = 2},
                  .retrying = 1,
                  .began = from_ns(1'794'883'200'000'000'000),
                  .ends = from_ns(1'794'883'300'000'000'000),
                  .ends_soonest = from_ns(1'794'883'290'000'000'000),
                  .ends_latest = from_ns(1'794'883'330'000'000'000),
                  .tasks_per_second = 0.5,
                  .draining = "interrupted"};
  state.model = {"power", 0.07, 64, 100, 12.5, 11, 14};
  state.memory = {"linear", 0.2, 40, 1.25, 100, 512U << 20U};
  state.outputs = {"power", 0.1, 30, 0, 100, 5'000'000, 4'000'000, 6'000'000};
  state.sites.push_back({.name = "home", .hosts = 1, .hosts_up = 1});
  state.sites.push_back({.name = "lab",
                         .hosts = 2,
                         .homeward = 2,
                         .files = 3,
                         .files_of = 4,
                         .bytes_per_second = 1e6,
                         .to_send = 2,
                         .sending = "/a/mesh.dat",
                         .sent_part = 0.43,
                         .learnt_bandwidth = 2e6,
                         .from_sites = 7e6});
  state.hosts.push_back({.name = "ada",
                         .site = 1,
                         .slots = 2,
                         .busy = 1,
                         .done = 9,
                         .running = 1,
                         .tasks = {{17, 1, from_ns(1'794'883'250'000'000'000)},
                                   {18, 2, kNever, 2.5, 1U << 30U, 40, 256U << 20U}},
                         .homeward = 2,
                         .arrivals = {{15, 1, from_ns(1'794'883'251'000'000'000)}},
                         .told = true,
                         .free_cores = 0.25,
                         .free_memory = 1ULL << 40,
                         .free_disk = 5,
                         .pace = 3.5,
                         .share = 0.25,
                         .share_forecast = {.value = 0.25, .low = 0.2, .high = 0.5}});
  state.sites[1].queue_forecast = {.value = 90, .low = 60, .high = 300};
  state.sites[1].probes = 3;
  state.sites[1].echo_forecast = {.value = 0.04, .low = 0.03, .high = 0.05};
  state.sites[1].launch_forecast = {.value = 0.02, .low = 0.01, .high = 0.03};
  state.hosts.push_back({.name = "bob",
                         .site = 1,
                         .condition = HostCondition::lost,
                         .since = from_ns(1'794'883'240'000'000'000),
                         .why = "it does not answer"});
  state.waits.push_back({.task = 20, .host = 1, .files = {"/a/mesh.dat"}});
  state.waits.push_back({.task = 21, .until = from_ns(1'794'883'260'000'000'000)});
  return state;
}

TEST(LiveStateTest, TellsSeveralRunsApart) {
  LiveState state = example();
  state.runs.push_back({.run = 3, .name = "a", .counts = {.total = 60}});
  state.runs.push_back({.run = 4, .name = "b", .counts = {.total = 40, .done = 7}});
  state.hosts[0].tasks[1].run = 4;
  const auto read = read_live_text(live_text(state)).value();
  EXPECT_EQ(live_text(read), live_text(state));
  EXPECT_TRUE(read.has(RunId(3)));
  EXPECT_TRUE(read.has(RunId(4)));
  EXPECT_FALSE(read.has(RunId(5)));
  EXPECT_EQ(read.find(RunId(4))->counts.done, 7U);
  EXPECT_TRUE(read.is_of(read.hosts[0].tasks[0], RunId(3)));
  EXPECT_TRUE(read.is_of(read.hosts[0].tasks[1], RunId(4)));
  EXPECT_FALSE(read.is_of(read.hosts[0].tasks[1], RunId(3)));
}

TEST(LiveStateTest, WhatIsWrittenIsRead) {
  const std::string text = live_text(example());
  const auto read = read_live_text(text);
  ASSERT_TRUE(read);
  EXPECT_EQ(live_text(*read), text);
  EXPECT_EQ(read->model.family, "power");
  EXPECT_EQ(read->model.high, 14);
  EXPECT_EQ(read->memory.family, "linear");
  EXPECT_EQ(read->outputs.high, 6'000'000U);
  EXPECT_EQ(read->memory.bytes, 512U << 20U);
  EXPECT_EQ(read->hosts[0].tasks[1].task, 18u);
  EXPECT_EQ(read->hosts[0].tasks[1].memory_died_with, 256U << 20U);
  EXPECT_EQ(read->sites[1].homeward, 2u);
  EXPECT_EQ(read->sites[1].queue_forecast.high, 300);
  EXPECT_EQ(read->sites[1].launch_forecast.high, 0.03);
  EXPECT_EQ(read->sites[1].echo_forecast.high, 0.05);
  EXPECT_EQ(read->sites[1].probes, 3U);
  ASSERT_EQ(read->hosts[0].arrivals.size(), 1u);
  EXPECT_EQ(read->hosts[0].arrivals[0].task, 15u);
  EXPECT_EQ(read->hosts[0].share, 0.25);
  EXPECT_EQ(read->hosts[0].share_forecast.high, 0.5);
  EXPECT_EQ(read->hosts[1].condition, HostCondition::lost);
  EXPECT_EQ(read->waits[0].files[0], "/a/mesh.dat");
}

TEST(LiveStateTest, NamesMayBeAnyBytes) {
  LiveState state = example();
  state.sites[1].sending = "bad \xff\n\x1b[31m";
  ASSERT_TRUE(read_live_text(live_text(state)));
}

TEST(LiveStateTest, WhatMakesNoSenseIsNotBelieved) {
  for (const char* text :
       {"", "{", "[]", "null", "7", "\"x\"", "{\"pid\":1", "\xff\xfe", "{\"pid\":1e400}"})
    EXPECT_FALSE(read_live_text(text)) << text;
  const auto state = read_live_text(R"({"pid":-5,"run":1e300,"total":"many","done":-1,"at":1e30,
    "ends":[],"sites":7,"scheduler":{},"tasks_per_second":1e300,
    "hosts":[7,null,[],{"site":99,"state":"on fire","busy":1.5e10,"tasks":"all","free_cores":-1},
             {"tasks":[{},{"task":-1},7]}],
    "waits":[{"host":77,"files":[1,"a"]},{"files":{}}]})");
  ASSERT_TRUE(state);
  EXPECT_EQ(state->pid, 0);
  EXPECT_EQ(state->run, 0u);
  EXPECT_EQ(state->counts.total, 0u);
  EXPECT_EQ(state->at, kNever);
  EXPECT_EQ(state->ends, kNever);
  ASSERT_EQ(state->hosts.size(), 5u);
  EXPECT_EQ(state->hosts[3].site, 0u);
  EXPECT_EQ(state->hosts[3].condition, HostCondition::up);
  EXPECT_EQ(state->hosts[3].busy, 0u);
  EXPECT_EQ(state->hosts[4].tasks.size(), 3u);
  EXPECT_EQ(state->waits[0].host, 0u);
  EXPECT_EQ(state->waits[0].files.size(), 1u);
}

TEST(LiveStateTest, TooMuchIsCut) {
  std::string text = R"({"hosts":[)";
  for (int i = 0; i < 3000; ++i) text += R"({"tasks":[{},{},{},{},{}]},)";
  text += R"({"host":")" + std::string(100'000, 'x') + "\"}]}";
  const auto state = read_live_text(text);
  ASSERT_TRUE(state);
  EXPECT_EQ(state->hosts.size(), kMostLiveHosts);
  std::size_t tasks = 0;
  for (const LiveHost& host : state->hosts) tasks += host.tasks.size();
  EXPECT_EQ(tasks, kMostLiveTasks);
  const auto deep = read_live_text(std::string(100'000, '[') + std::string(100'000, ']'));
  EXPECT_FALSE(deep);
}

TEST(LiveStateTest, NobodyDrivesARunThatNobodyHolds) {
  ScratchDir dir;
  std::ofstream(live_path(dir.path())) << live_text(example());
  EXPECT_FALSE(read_live(dir.path()));  // as after a kill -9
  EXPECT_EQ(read_left_live(dir.path()).value().run, 3u);
  {
    const auto lock = RunLock::acquire(dir.path());
    ASSERT_TRUE(lock);
    EXPECT_FALSE(read_left_live(dir.path()));
    forget_left_live(dir.path());
  }
  EXPECT_TRUE(read_left_live(dir.path()));
  forget_left_live(dir.path());
  EXPECT_FALSE(read_left_live(dir.path()));
}

}  // namespace
}  // namespace gantry::store
