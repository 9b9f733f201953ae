#include "driver/live_state.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "base/scratch_dir.hpp"
#include "driver/live_board.hpp"
#include "engine/one_run.hpp"
#include "store/run_lock.hpp"

namespace gantry::driver {
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
    const auto lock = store::RunLock::acquire(dir.path());
    ASSERT_TRUE(lock);
    EXPECT_FALSE(read_left_live(dir.path()));
    forget_left_live(dir.path());
  }
  EXPECT_TRUE(read_left_live(dir.path()));
  forget_left_live(dir.path());
  EXPECT_FALSE(read_left_live(dir.path()));
}

/// Says that it has so many hosts, and does nothing.
class ManyHosts final : public Launcher {
 public:
  explicit ManyHosts(std::uint32_t hosts) : hosts_(hosts) {}
  Result<> open() override { return {}; }
  void start(const TaskKey&, HostId, const Task&, const Fingerprint&,
             const std::vector<TaskFile>&) override {}
  void cancel(const TaskKey&, HostId) override {}
  void recall(HostId) override {}
  void acknowledge(std::uint64_t) override {}
  Result<> poll(std::vector<News>&) override { return {}; }
  [[nodiscard]] int wait_fd() const override { return -1; }
  [[nodiscard]] bool wants_to_send() const override { return false; }
  void close() override {}
  void glance(Glance& glance) const override {
    glance.sites.push_back({.id = kHome, .name = "home"});
    for (std::uint32_t i = 1; i <= hosts_; ++i)
      glance.hosts.push_back({.id = HostId(i), .name = "host-" + std::to_string(i)});
    glance.hosts.back().condition = HostCondition::lost;
  }

 private:
  std::uint32_t hosts_;
};

Options options_of(const std::filesystem::path& state_dir) {
  Options options;
  options.state_dir = state_dir;
  return options;
}

Progress progress_after(Duration elapsed) {
  Progress progress;
  progress.run = RunId(1);
  progress.elapsed = elapsed;
  return progress;
}

TEST(LiveBoardTest, ItsSizeIsBoundedAndSumsCountAll) {
  constexpr std::uint32_t kHosts = 2'000;
  engine::OneRun engine({.count = 4 * kHosts}, {});
  for (std::uint32_t i = 1; i < kHosts; ++i)
    engine.apply(HostUp{{HostId(i), "host-" + std::to_string(i), 4, 1ULL << 30}});
  const TimePoint now = from_ns(1'000'000'000);
  for (const Action& action : engine.decide(now))
    if (const auto* start = std::get_if<StartAttempt>(&action))
      engine.apply(AttemptStarted{start->key, start->host, now});
  ScratchDir dir;
  const ManyHosts launcher(kHosts);
  const SharedInputs shared;
  const Options options = options_of(dir.path());
  const Progress progress = progress_after({});
  const std::map<HostId, std::uint32_t> done{{HostId(2), 5}};
  {
    LiveBoard board(dir.path());
    board.show({engine, engine.view(), launcher, shared, options, nullptr, {}, progress, done},
               now);
    const auto text = read_file(live_path(dir.path())).value();
    EXPECT_LT(text.size(), std::size_t{1} << 20);
    const auto state = read_live_text(text);
    ASSERT_TRUE(state);
    EXPECT_EQ(state->sites[0].hosts, kHosts);
    EXPECT_EQ(state->sites[0].hosts_up, kHosts - 1);
    EXPECT_EQ(state->sites[0].slots, 4 * (kHosts - 1));
    EXPECT_EQ(state->sites[0].busy, state->sites[0].slots);
    EXPECT_EQ(state->hosts.size(), kMostLiveHosts);
    EXPECT_EQ(state->more_hosts, kHosts - kMostLiveHosts);
    EXPECT_EQ(state->hosts[0].condition, HostCondition::lost);  // what is wrong comes first
    EXPECT_EQ(state->hosts[2].name, "host-2");
    EXPECT_EQ(state->hosts[2].done, 5u);
    EXPECT_EQ(state->hosts[2].tasks.size(), 4u);
  }
  EXPECT_FALSE(std::filesystem::exists(live_path(dir.path())));
}

TEST(LiveBoardTest, NothingIsWrittenWhileNothingChanges) {
  engine::OneRun engine({.count = 2}, {});
  engine.apply(HostUp{{HostId(1), "here", 2, 1ULL << 30}});
  ScratchDir dir;
  const ManyHosts launcher(1);
  const SharedInputs shared;
  const Options options = options_of(dir.path());
  const std::map<HostId, std::uint32_t> done;
  LiveBoard board(dir.path());
  const auto show_at = [&](int second) {
    const TimePoint now = from_ns(second * 1'000'000'000LL);
    EXPECT_TRUE(board.is_due(now));
    const Progress progress = progress_after(std::chrono::seconds(second));
    board.show({engine, engine.view(), launcher, shared, options, nullptr, {}, progress, done},
               now);
    EXPECT_FALSE(board.is_due(now + std::chrono::milliseconds(900)));
    return read_live_text(read_file(live_path(dir.path())).value())->at;
  };
  const TimePoint first = show_at(1);
  EXPECT_EQ(show_at(2), first);
  engine.apply(HostDown{HostId(1)});
  EXPECT_EQ(show_at(3), from_ns(3'000'000'000));
  EXPECT_EQ(show_at(7), from_ns(3'000'000'000));
  EXPECT_EQ(show_at(8), from_ns(8'000'000'000)) << "a sign of life";
}

TEST(LiveBoardTest, AFolderThatIsGoneEndsNothing) {
  engine::OneRun engine({.count = 2}, {});
  ScratchDir dir;
  const ManyHosts launcher(1);
  const SharedInputs shared;
  const Options options = options_of(dir.path() / "gone");
  const Progress progress = progress_after({});
  const std::map<HostId, std::uint32_t> done;
  LiveBoard board(options.state_dir);
  board.show({engine, engine.view(), launcher, shared, options, nullptr, {}, progress, done},
             from_ns(1));
  EXPECT_FALSE(std::filesystem::exists(options.state_dir));
}

}  // namespace
}  // namespace gantry::driver
