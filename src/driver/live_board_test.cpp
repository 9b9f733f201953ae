#include "driver/live_board.hpp"

#include "engine/one_run.hpp"

#include <gtest/gtest.h>

#include "base/fd.hpp"
#include "base/scratch_dir.hpp"

namespace gantry::driver {
namespace {

using store::live_path;
using store::read_live_text;

Glance many_hosts(std::uint32_t count) {
  Glance glance;
  glance.sites.push_back({.id = kHome, .name = "home"});
  for (std::uint32_t i = 1; i <= count; ++i)
    glance.hosts.push_back({.id = HostId(i), .name = "host-" + std::to_string(i)});
  glance.hosts.back().condition = HostCondition::lost;
  return glance;
}

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
  const FileNames shared;
  const Options options = options_of(dir.path());
  const Progress progress = progress_after({});
  const std::map<HostId, std::uint32_t> done{{HostId(2), 5}};
  {
    LiveBoard board(dir.path());
    board.show(
        {engine, engine.view(), many_hosts(kHosts), shared, options, nullptr, {}, progress, done},
        now);
    const auto text = read_file(live_path(dir.path())).value();
    EXPECT_LT(text.size(), std::size_t{1} << 20);
    const auto state = read_live_text(text);
    ASSERT_TRUE(state);
    EXPECT_EQ(state->sites[0].hosts, kHosts);
    EXPECT_EQ(state->sites[0].hosts_up, kHosts - 1);
    EXPECT_EQ(state->sites[0].slots, 4 * (kHosts - 1));
    EXPECT_EQ(state->sites[0].busy, state->sites[0].slots);
    EXPECT_EQ(state->hosts.size(), store::kMostLiveHosts);
    EXPECT_EQ(state->more_hosts, kHosts - store::kMostLiveHosts);
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
  const FileNames shared;
  const Options options = options_of(dir.path());
  const std::map<HostId, std::uint32_t> done;
  LiveBoard board(dir.path());
  const auto show_at = [&](int second) {
    const TimePoint now = from_ns(second * 1'000'000'000LL);
    EXPECT_TRUE(board.is_due(now));
    const Progress progress = progress_after(std::chrono::seconds(second));
    board.show({engine, engine.view(), many_hosts(1), shared, options, nullptr, {}, progress, done},
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
  const FileNames shared;
  const Options options = options_of(dir.path() / "gone");
  const Progress progress = progress_after({});
  const std::map<HostId, std::uint32_t> done;
  LiveBoard board(options.state_dir);
  board.show({engine, engine.view(), many_hosts(1), shared, options, nullptr, {}, progress, done},
             from_ns(1));
  EXPECT_FALSE(std::filesystem::exists(options.state_dir));
}

}  // namespace
}  // namespace gantry::driver
