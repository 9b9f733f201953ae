#include "cli/commands/top_screen.hpp"

#include <gtest/gtest.h>

#include "cli/terminal/display_text.hpp"

namespace gantry::cli {
namespace {

using std::chrono::seconds;
using store::LiveHost;
using store::LiveSite;
using store::LiveState;

const TimePoint kNow = from_ns(1'794'883'253'000'000'000);

LiveState example() {
  LiveState state{.pid = 42,
                  .at = kNow,
                  .run = 3,
                  .counts = {.total = 100, .done = 7, .running = 3},
                  .staging = 4,
                  .began = kNow - seconds(90),
                  .ends = kNow + seconds(30)};
  state.sites.push_back({.name = "home", .hosts = 1, .hosts_up = 1, .slots = 2, .busy = 2});
  state.sites.push_back({.name = "lab",
                         .hosts = 2,
                         .hosts_up = 1,
                         .slots = 4,
                         .busy = 1,
                         .files = 3,
                         .files_of = 4,
                         .bytes_per_second = 12.3e6,
                         .to_send = 3,
                         .sending = "/data/mesh.dat",
                         .sent_part = 0.43,
                         .learnt_bandwidth = 11.9e6});
  state.hosts.push_back({.name = "zeus",
                         .slots = 2,
                         .busy = 2,
                         .done = 4,
                         .running = 2,
                         .tasks = {{17, 1, kNow - seconds(12)}, {18, 1, kNow - seconds(3)}},
                         .told = true,
                         .free_cores = 0.1,
                         .free_memory = 12ULL << 30,
                         .free_disk = 64ULL << 30,
                         .pace = 3.2});
  state.hosts.push_back({.name = "ada", .site = 1, .slots = 4, .busy = 1, .running = 1});
  state.hosts.push_back({.name = "bob",
                         .site = 1,
                         .condition = HostCondition::lost,
                         .since = kNow - seconds(75),
                         .why = "nothing was heard from it for 15 s"});
  return state;
}

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const auto& line : lines) text += line + "\n";
  return text;
}

TEST(TopScreenTest, FilesFromOtherSites) {
  LiveState state = example();
  state.sites[1].from_sites = 3.0 * (1 << 20);
  const std::string text = joined(top_lines(state, kNow, {.columns = 160}));
  EXPECT_NE(text.find("learnt 11.9 MB/s, 3 MiB from other sites\n"), std::string::npos) << text;
}

TEST(TopScreenTest, SitesHostsAndLinks) {
  const std::string text = joined(top_lines(example(), kNow, {.columns = 120}));
  for (const char* part :
       {"7/100", "3 running", "ETA 30 s", "waiting: 4 for files\n", "home: 1/1 host, 2/2 slots\n",
        "lab: 1/2 hosts, 1/4 slots, 3/4 files, mesh.dat 43% and 2 more, now 12.3 MB/s, learnt 11.9 "
        "MB/s\n",
        "17 12s, 18 3.0s", "3.2s", "0.1", "12G", "64G", "lost 1m15s", "nothing was heard"})
    EXPECT_NE(text.find(part), std::string::npos) << part << " in\n" << text;
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  // A host stands below its site.
  EXPECT_LT(text.find("lab:"), text.find("ada"));
  EXPECT_LT(text.find("zeus"), text.find("lab:"));
}

TEST(TopScreenTest, OutputsThatComeHome) {
  LiveState state = example();
  state.sites[1].homeward = 3;
  state.hosts[0].homeward = 1;
  state.hosts[1].running = 0;
  state.hosts[1].homeward = 2;
  const std::string text = joined(top_lines(state, kNow, {.columns = 160}));
  for (const char* part : {"waiting: 4 for files, 3 for outputs to come home\n",
                           "lab: 1/2 hosts, 1/4 slots, 3 coming home, 3/4 files",
                           "17 12s, 18 3.0s, 1 coming home", "  2 coming home  "})
    EXPECT_NE(text.find(part), std::string::npos) << part << " in\n" << text;
}

TEST(TopScreenTest, NothingOfASiteIsCut) {
  LiveState state = example();
  state.sites[1].homeward = 3;
  state.sites[1].from_sites = 3.0 * (1 << 20);
  const std::string text = joined(top_lines(state, kNow, {.columns = 80}));
  EXPECT_NE(text.find("mesh.dat 43% and 2 more,\n    now 12.3 MB/s, learnt 11.9 MB/s, 3 MiB from "
                      "other sites\n"),
            std::string::npos)
      << text;
}

TEST(TopScreenTest, FitsAnyWindow) {
  for (const std::size_t columns : {200, 80, 60, 40, 20, 5, 1})
    for (const auto& line : top_lines(example(), kNow, {.columns = columns}))
      EXPECT_LT(display_width(line), std::max<std::size_t>(columns, 40)) << columns << ": " << line;
  for (const auto& line : top_lines(example(), kNow, {.columns = 80}))
    EXPECT_LT(display_width(line), 80u) << line;
  const std::vector<std::string> lines(10, "x");
  EXPECT_EQ(fit_rows(lines, 10), lines);
  EXPECT_EQ(fit_rows(lines, 4), (std::vector<std::string>{"x", "x", "x", "7 more lines"}));
  EXPECT_EQ(fit_rows(lines, 0).size(), 1u);
}

TEST(TopScreenTest, NamesCannotSteerTheTerminal) {
  LiveState state = example();
  for (std::string* text : {&state.sites[1].name, &state.sites[1].sending, &state.hosts[1].name,
                            &state.hosts[2].why, &state.draining, &state.scheduler})
    *text = "a\x1b[2J\nb\xff";
  const std::string text = joined(top_lines(state, kNow, {.columns = 80}));
  EXPECT_EQ(text.find('\x1b'), std::string::npos) << text;
  EXPECT_EQ(text.find('\xff'), std::string::npos) << text;
  std::size_t shown = 0;
  for (std::size_t at = 0; (at = text.find("[2J", at)) != std::string::npos; ++at) ++shown;
  EXPECT_EQ(shown, 5U) << "all but the scheduler's is shown:\n" << text;
}

TEST(TopScreenTest, OfADriverThatIsStopped) {
  const auto lines = top_lines(example(), kNow + seconds(60), {.columns = 80});
  EXPECT_NE(joined(lines).find("no news for 1m00s: is process 42 stopped?"), std::string::npos);
}

TEST(TopScreenTest, AnythingThatAReaderGives) {
  // Nothing, hosts without sites, a host of a site that does not exist, times of the future.
  EXPECT_FALSE(top_lines({}, kNow, {.columns = 80}).empty());
  LiveState state;
  state.hosts.push_back({.name = "lonely", .site = 7, .since = kNow + seconds(5)});
  state.hosts.push_back({.name = "here", .running = 3, .tasks = {{1, 1, kNow + seconds(9)}}});
  state.began = kNow + seconds(100);
  EXPECT_FALSE(top_lines(state, kNow, {.columns = 80}).empty());
  state.sites.resize(1);
  EXPECT_FALSE(top_lines(state, kNow, {.columns = 80}).empty());
}

TEST(TopScreenTest, FewColumns) {
  EXPECT_EQ(age_text(std::chrono::milliseconds(3240)), "3.2s");
  EXPECT_EQ(age_text(seconds(-4)), "0.0s");
  EXPECT_EQ(age_text(seconds(12)), "12s");
  EXPECT_EQ(age_text(seconds(303)), "5m03s");
  EXPECT_EQ(short_bytes(0), "0B");
  EXPECT_EQ(short_bytes(1500), "1.5K");
  EXPECT_EQ(short_bytes(64ULL << 30), "64G");
  EXPECT_EQ(short_bytes(~0ULL), "16E");
}

}  // namespace
}  // namespace gantry::cli
