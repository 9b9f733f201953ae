#include "simulate/grid_world.hpp"

#include <gmock/gmock.h>

#include <fstream>

#include "base/scratch_dir.hpp"

namespace gantry::simulate {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;

/// Home without hosts, and a site with two of two slots that are twice as fast.
Grid little_grid() {
  Grid grid;
  grid.file = "grid.yaml";
  grid.sites = {{"home", 0, {}, {2, 3}},
                {"lab", 0, {{.name = "lab-", .count = 2, .slots = 2, .speed = 2}}, {3, 3}}};
  grid.links = {{.from = 0, .to = 1, .bandwidth = 100, .latency = 1s}};
  return grid;
}

TEST(GridWorld, HostsLinksAndNames) {
  const auto world = grid_world(little_grid());
  ASSERT_TRUE(world) << world.error().message;
  EXPECT_THAT(world->host_names, ElementsAre("lab-1", "lab-2"));
  EXPECT_THAT(world->site_names, ElementsAre("home", "lab"));
  ASSERT_EQ(world->grid.hosts.size(), 2U);
  EXPECT_EQ(world->grid.hosts[1].spec.speed, 2);
  EXPECT_EQ(world->grid.hosts[1].spec.slots, 2U);
  EXPECT_EQ(world->grid.hosts[1].site, SiteId(1));
  ASSERT_EQ(world->grid.links.size(), 2U);
  EXPECT_FALSE(world->grid.links[0]);
  EXPECT_EQ(world->grid.links[1]->bandwidth.value(0), 100);
  EXPECT_EQ(world->grid.links[1]->latency, 1);
}

TEST(GridWorld, ASiteThatOnlyOthersReachHasTheWidestWayThroughThem) {
  Grid grid = little_grid();
  grid.sites.push_back({"second", 0, {}, {}});
  grid.sites.push_back({"far", 0, {{.name = "far-"}}, {}});
  grid.links.push_back({.from = 0, .to = 2, .bandwidth = 50, .sharing = LinkSharing::fair});
  grid.links.push_back({.from = 1, .to = 3, .bandwidth = 5, .latency = 1s, .streams = 3});
  grid.links.push_back({.from = 2, .to = 3, .bandwidth = 70, .latency = 3s, .streams = 2});
  const auto world = grid_world(grid);
  ASSERT_TRUE(world) << world.error().message;
  const auto& way = world->grid.links[3];
  ASSERT_TRUE(way);
  EXPECT_EQ(way->bandwidth.value(0), 50);  // through "second"; through "lab" it would be 5
  EXPECT_EQ(way->latency, 3);
  EXPECT_EQ(way->sharing, LinkSharing::fifo);
  EXPECT_EQ(way->streams, 2U);
  ASSERT_EQ(world->grid.peers.size(), 2U);
  EXPECT_EQ(world->grid.peers[1].one, SiteId(2));
  EXPECT_EQ(world->grid.peers[1].other, SiteId(3));
  EXPECT_EQ(world->grid.peers[1].spec.bandwidth.value(0), 70);
}

TEST(GridWorld, AWayIsNeverWiderThanTheNarrowestOfItsTraces) {
  const ScratchDir folder;
  std::ofstream(folder / "one.csv") << "0,1\n10,0.5\n";
  std::ofstream(folder / "other.csv") << "0,0.7\n20,0.2\n";
  Grid grid = little_grid();
  grid.sites.push_back({"far", 0, {{.name = "far-"}}, {}});
  grid.links[0].trace = (folder / "one.csv").string();
  grid.links.push_back(
      {.from = 1, .to = 2, .bandwidth = 100, .trace = (folder / "other.csv").string()});
  const auto world = grid_world(grid);
  ASSERT_TRUE(world) << world.error().message;
  const Trace& bandwidth = world->grid.links[2]->bandwidth;
  EXPECT_DOUBLE_EQ(bandwidth.value(5), 70);
  EXPECT_DOUBLE_EQ(bandwidth.value(15), 50);
  EXPECT_DOUBLE_EQ(bandwidth.value(25), 20);
}

TEST(GridWorld, ABatchHostIsAwayUntilItIsLentAndAfterwards) {
  Grid grid = little_grid();
  grid.sites[1].hosts[0].queue_wait = 10s;
  grid.sites[1].hosts[0].lent_for = 60s;
  const auto world = grid_world(grid);
  ASSERT_TRUE(world) << world.error().message;
  const HostSpec& host = world->grid.hosts[0].spec;
  ASSERT_GT(host.outages.size(), 2U);
  EXPECT_EQ(host.outages[0].until, 10);
  EXPECT_EQ(host.outages[1].from, 70);
  EXPECT_EQ(host.outages[1].until, 80);
  // The bound looks at the trace: 60 of the first 80 seconds.
  EXPECT_DOUBLE_EQ(host.availability.integral(0, 80), 60);
}

TEST(GridWorld, TracesAreRelativeToWhatIsDeclared) {
  const ScratchDir folder;
  std::ofstream(folder / "half.csv") << "0,1\n10,0.5\n";
  Grid grid = little_grid();
  grid.links[0].trace = (folder / "half.csv").string();
  grid.sites[1].hosts[0].availability = grid.links[0].trace;
  const auto world = grid_world(grid);
  ASSERT_TRUE(world) << world.error().message;
  EXPECT_EQ(world->grid.links[1]->bandwidth.value(20), 50);
  EXPECT_EQ(world->grid.hosts[0].spec.availability.value(20), 0.5);
}

TEST(GridWorld, AMistakeInATraceIsNamedWithItsPlace) {
  const ScratchDir folder;
  Grid grid = little_grid();
  grid.sites[1].hosts[0].availability = (folder / "t.csv").string();
  for (const char* text : {"0,1\n5,nan\n", "5,1\n4,1\n"}) {
    std::ofstream(folder / "t.csv") << text;
    const auto world = grid_world(grid);
    ASSERT_FALSE(world) << text;
    EXPECT_THAT(world.error().message, testing::ContainsRegex("t.csv:2:[0-9]+: ")) << text;
  }
}

TEST(GridWorld, TooManySlotsAreRefused) {
  Grid grid = little_grid();
  grid.sites[1].hosts[0].count = 100'000;
  const auto world = grid_world(grid);
  ASSERT_FALSE(world);
  EXPECT_THAT(world.error().message, HasSubstr("200,000 slots"));
}

TEST(GridWorld, ATaskWhoseFilesFitNowhereIsAnError) {
  Grid grid = little_grid();
  grid.sites[1].depot = 1000;
  EXPECT_THAT(grid_world(grid)->grid.depots, ElementsAre(testing::Gt(1e99), 1000));
  const std::vector<std::string> names{"a", "b"};
  const SimulatedTasks::Task reads_both{.files = {FileId(0), FileId(1)}};
  EXPECT_TRUE(check_depots(grid, {{500, 500}, {reads_both}}, names));
  const auto file = check_depots(grid, {{999, 1001}, {reads_both}}, names);
  ASSERT_FALSE(file);
  EXPECT_THAT(file.error().message, HasSubstr("grid.yaml:3:3: the file b "));
  const auto task = check_depots(grid, {{500, 501}, {{}, reads_both}}, names);
  ASSERT_FALSE(task);
  EXPECT_THAT(task.error().message, HasSubstr("grid.yaml:3:3: the shared files of task 2 "));
  EXPECT_TRUE(check_depots(grid, {{500, 501}, {{.files = {FileId(0)}}}}, names));
  grid.sites[0].hosts = {{.name = "home-"}};
  EXPECT_TRUE(check_depots(grid, {{999, 1001}, {reads_both}}, names));
}

}  // namespace
TEST(GridWorld, KnowsWhichFilesSitesHaveAlready) {
  Grid grid;
  grid.sites.resize(3);
  grid.sites[1].staged = {{"/study/data", "/there"}};
  grid.sites[2].staged = {{"/study/mesh", "/mesh"}, {"/study/data/b", "/b"}};
  const auto staged =
      staged_files(grid, {"/study/data/a", "/study/data/b", "/study/mesh", "/study/meshes"});
  using Pair = std::pair<FileId, SiteId>;
  EXPECT_EQ(staged, (std::vector<Pair>{{FileId(0), SiteId(1)},
                                       {FileId(1), SiteId(1)},
                                       {FileId(1), SiteId(2)},
                                       {FileId(2), SiteId(2)}}));
}

}  // namespace gantry::simulate
