#include "simulate/gantt_svg.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>

#include "simulate/gantt_rows.hpp"
#include "simulate/svg_text.hpp"

namespace gantry::simulate {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

constexpr SiteId kFarSite(1);

/// Two hosts at home, one of two slots far away that got both files.
struct Picture {
  VirtualGrid grid{{{{}, kHome}, {{}, kHome}, {{.slots = 2}, kFarSite}},
                   {std::nullopt, LinkSpec{}}};
  engine::Workload workload{.count = 4};
  Simulated run{};
  Picture() {
    run.makespan = 100;
    run.bytes_moved = 3e6;
    run.tasks = {{TaskId(1), 0, 0, 50, 50},
                 {TaskId(2), 0, 50, 100, 100},
                 {TaskId(3), 2, 20, 60, 60},
                 {TaskId(4), 2, 30, 90, 90}};
    run.moves = {{FileId(0), kFarSite, 0, 20}, {FileId(1), kFarSite, 0, 30}};
    workload.file_bytes = {1e6, 2e6};
    workload.files = [](TaskId task) {
      if (task == TaskId(2)) return std::vector<FileId>{};
      return std::vector{FileId(task.value() % 2)};
    };
  }
  [[nodiscard]] std::string svg(const GanttNames& names = {}) const {
    return gantt_svg(run, grid, workload, names);
  }
};

std::size_t occurrences(const std::string& text, const std::string& what) {
  std::size_t count = 0;
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++count;
  return count;
}

TEST(GanttRows, AreTheSlotsOfHostsAndTheLinks) {
  const Picture picture;
  const auto sites = gantt_rows(picture.run, picture.grid, picture.workload);
  ASSERT_THAT(sites, SizeIs(2));
  EXPECT_EQ(sites[0].site, kHome);
  EXPECT_THAT(sites[0].slots, SizeIs(2));
  EXPECT_THAT(sites[0].links, SizeIs(0));
  EXPECT_EQ(sites[0].busy, 0.5);
  EXPECT_THAT(sites[0].slots[0].bars,
              ElementsAre(GanttBar{0, 50, 1, TaskId(1)}, GanttBar{50, 100, kNoFile, TaskId(2)}));
  // Tasks that overlap are in different slots of the host.
  EXPECT_EQ(sites[1].hosts, 1U);
  ASSERT_THAT(sites[1].slots, SizeIs(2));
  EXPECT_THAT(sites[1].slots[0].bars, ElementsAre(GanttBar{20, 60, 1, TaskId(3)}));
  EXPECT_THAT(sites[1].slots[1].bars, ElementsAre(GanttBar{30, 90, 0, TaskId(4)}));
  EXPECT_EQ(sites[1].busy, 0.5);
  // The second file went when the first had arrived.
  ASSERT_THAT(sites[1].links, SizeIs(1));
  EXPECT_THAT(sites[1].links[0].bars, ElementsAre(GanttBar{0, 20, 0}, GanttBar{20, 30, 1}));
}

TEST(GanttRows, TransfersThatShareALinkHaveRowsOfTheirOwn) {
  Picture picture;
  picture.grid.links[1]->sharing = LinkSharing::fair;
  const auto sites = gantt_rows(picture.run, picture.grid, picture.workload);
  ASSERT_THAT(sites[1].links, SizeIs(2));
  EXPECT_THAT(sites[1].links[1].bars, ElementsAre(GanttBar{0, 30, 1}));
}

TEST(GanttRows, FilesFromAnotherSiteHaveRowsOfTheirOwn) {
  constexpr SiteId kThirdSite(2);
  Picture picture;
  picture.grid.links.emplace_back(LinkSpec{});
  picture.grid.peers = {{kFarSite, kThirdSite, {}}};
  picture.run.moves = {{FileId(0), kFarSite, 0, 20},
                       {FileId(0), kThirdSite, 20, 25, kFarSite},
                       {FileId(1), kFarSite, 20, 30, kThirdSite}};  // after the one before
  const auto sites = gantt_rows(picture.run, picture.grid, picture.workload);
  ASSERT_THAT(sites, SizeIs(3));
  ASSERT_THAT(sites[1].links, SizeIs(2));
  EXPECT_EQ(sites[1].links[0].from, kHome);
  EXPECT_THAT(sites[1].links[0].bars, ElementsAre(GanttBar{0, 20, 0}));
  EXPECT_EQ(sites[1].links[1].from, kThirdSite);
  EXPECT_THAT(sites[1].links[1].bars, ElementsAre(GanttBar{25, 30, 1}));
  ASSERT_THAT(sites[2].links, SizeIs(1));
  EXPECT_THAT(sites[2].links[0].bars, ElementsAre(GanttBar{20, 25, 0}));
  EXPECT_EQ(occurrences(picture.svg(), "file 2 on its way from site 2, "), 1U);
}

TEST(MergedBars, KeepsWhatCanBeSeen) {
  const std::vector<GanttBar> bars{{0, 10, 0, TaskId(1)}, {10, 20, 0, TaskId(2)}};
  EXPECT_EQ(merged_bars(bars, 1, 3), bars);
}

TEST(MergedBars, LeavesOutSeamsThatCannotBeSeen) {
  const std::vector<GanttBar> bars{
      {0, 2, 0, TaskId(1)}, {2, 4, 0, TaskId(2)}, {4, 6, 1, TaskId(3)}, {9, 11, 1, TaskId(4)}};
  EXPECT_THAT(merged_bars(bars, 1, 3),
              ElementsAre(GanttBar{0, 4, 0, TaskId(1), 2}, GanttBar{4, 6, 1, TaskId(3)},
                          GanttBar{9, 11, 1, TaskId(4)}));
}

TEST(MergedBars, TheLongestStandsForManyShortOnes) {
  const std::vector<GanttBar> bars{
      {0, 0.2, 0, TaskId(1)}, {0.2, 0.8, 1, TaskId(2)}, {0.8, 0.9, 0, TaskId(3)}};
  EXPECT_THAT(merged_bars(bars, 1, 3), ElementsAre(GanttBar{0, 1, 1, TaskId(1), 3}));
}

TEST(MergedBars, ManyTasksBecomeFewBars) {
  std::vector<GanttBar> bars;
  for (std::uint32_t i = 0; i < 100'000; ++i)
    bars.push_back({i * 0.01, i * 0.01 + 0.01, i % 3, TaskId(i + 1)});
  const auto merged = merged_bars(bars, 1, 3);
  EXPECT_LE(merged.size(), 1001U);
  std::uint32_t tasks = 0;
  for (const GanttBar& bar : merged) tasks += bar.count;
  EXPECT_EQ(tasks, 100'000U);
}

TEST(GanttSvg, ShowsEveryTaskAndTransfer) {
  const std::string svg = Picture().svg();
  EXPECT_EQ(svg.find("<svg "), 0U);
  EXPECT_EQ(occurrences(svg, "<title>"), 6U);
  EXPECT_THAT(svg, HasSubstr("<title>task 1 (file 2) on host 1, 0 s – 50 s</title>"));
  EXPECT_THAT(svg, HasSubstr("<title>task 2 (no shared file) on host 1, 50 s – 100 s</title>"));
  EXPECT_THAT(svg, HasSubstr("<title>file 2 on its way, 20 s – 30 s</title>"));
  EXPECT_THAT(svg, HasSubstr("100 s · 4 tasks on 3 hosts · 3 MB moved"));
  EXPECT_THAT(svg, HasSubstr(">file 1 (1 MB)<"));
  EXPECT_THAT(svg, HasSubstr(">no shared file<"));
  EXPECT_THAT(svg, HasSubstr(">home<"));
  EXPECT_THAT(svg, HasSubstr("1 host · 50% busy"));
  EXPECT_EQ(occurrences(svg, "<g "), occurrences(svg, "</g>"));
}

/// Hosts n1, n2 … of two slots at two sites; each slot has run one task.
std::string picture_of(std::uint32_t hosts) {
  VirtualGrid grid;
  GanttNames names{.sites = {"home", "far"}};
  Simulated run{};
  run.makespan = 100;
  for (std::uint32_t host = 0; host < hosts; ++host) {
    grid.hosts.push_back({{.slots = 2}, host < hosts / 2 ? kHome : kFarSite});
    names.hosts.push_back("n" + std::to_string(host + 1));
    for (std::uint32_t slot = 0; slot < 2; ++slot)
      run.tasks.push_back({TaskId(2 * host + slot + 1), host, 0, 100, 100});
  }
  return gantt_svg(run, grid, {.count = 2 * hosts}, names);
}

/// Where the times of an axis stand, from top to bottom.
std::vector<double> axes_of(const std::string& svg) {
  const std::regex zero("y=\"([0-9.]+)\" class=\"a m\">0</text>");
  std::vector<double> places;
  for (std::sregex_iterator found(svg.begin(), svg.end(), zero), end; found != end; ++found)
    places.push_back(std::stod((*found)[1]));
  return places;
}

TEST(GanttSvg, NamesEveryHostBesideItsRows) {
  const std::string svg = picture_of(100);
  for (int host = 1; host <= 100; ++host)
    EXPECT_EQ(occurrences(svg, "\"h\">n" + std::to_string(host) + "</text>"), 1U) << host;
}

TEST(GanttSvg, NamesOfManyHostsDoNotOverlap) {
  const std::string svg = picture_of(1000);
  const std::regex name("y=\"([0-9.]+)\" class=\"h\">n");
  std::vector<double> places;
  for (std::sregex_iterator found(svg.begin(), svg.end(), name), end; found != end; ++found)
    places.push_back(std::stod((*found)[1]));
  ASSERT_GE(places.size(), 100U);
  for (std::size_t i = 1; i < places.size(); ++i) EXPECT_GE(places[i] - places[i - 1], 13) << i;
  // The others are named when a mouse rests on them.
  EXPECT_THAT(svg, HasSubstr("<title>n999</title>"));
}

TEST(GanttSvg, ATimeAxisIsInEveryWindow) {
  EXPECT_THAT(axes_of(Picture().svg()), SizeIs(2));
  for (const std::uint32_t hosts : {20U, 100U, 1000U}) {
    const std::string svg = picture_of(hosts);
    const auto axes = axes_of(svg);
    ASSERT_GE(axes.size(), 3U) << hosts;
    EXPECT_LT(svg.find(">0</text>"), svg.find(">n1</text>"));
    EXPECT_GT(svg.rfind(">0</text>"), svg.rfind("</title>"));
    for (std::size_t i = 1; i < axes.size(); ++i) {
      EXPECT_LE(axes[i] - axes[i - 1], 740) << hosts;
      EXPECT_GE(axes[i] - axes[i - 1], 240) << hosts;
    }
    // Each has its other times, and the end of the run.
    EXPECT_EQ(occurrences(svg, ">50 s</text>"), axes.size());
    EXPECT_EQ(occurrences(svg, ">100 s</text>"), axes.size());
  }
}

TEST(GanttSvg, TextKeepsItsSpacesAndCanBeReadOnPaper) {
  const std::string svg = picture_of(3);
  EXPECT_THAT(svg, HasSubstr("<style>text{white-space:pre}"));
  // 13 of 1000 pixels are 7 points on a page that is 190 mm wide.
  EXPECT_THAT(svg, HasSubstr("viewBox=\"0 0 1000 "));
  const std::regex size("font-size(?::|=\")([0-9]+)");
  std::vector<int> sizes;
  for (std::sregex_iterator found(svg.begin(), svg.end(), size), end; found != end; ++found)
    sizes.push_back(std::stoi((*found)[1]));
  EXPECT_THAT(sizes, testing::Contains(13));
  EXPECT_THAT(sizes, testing::Each(testing::Ge(12)));
}

TEST(GanttSvg, NamesMayHoldAnything) {
  const std::string hostile = "<script>\"&'\x01\xff";
  const std::string shown = "&lt;script&gt;&quot;&amp;&#39; ?";
  const GanttNames names{.title = hostile,
                         .sites = {hostile, hostile},
                         .hosts = {hostile, hostile, hostile},
                         .files = {hostile, hostile}};
  const std::string svg = Picture().svg(names);
  EXPECT_THAT(svg, Not(HasSubstr("<script")));
  EXPECT_GE(occurrences(svg, shown), 1U + 2 + 6 + 2);
  const Picture picture;
  const std::string html = gantt_html(picture.run, picture.grid, picture.workload, names);
  EXPECT_THAT(html, HasSubstr("<title>" + shown + "</title>"));
  EXPECT_THAT(html, Not(HasSubstr("<script")));
}

TEST(GanttSvg, IsOnePageWithoutOtherFiles) {
  const Picture picture;
  const std::string html = gantt_html(picture.run, picture.grid, picture.workload);
  EXPECT_EQ(html.find("<!DOCTYPE html>"), 0U);
  EXPECT_THAT(html, HasSubstr(picture.svg()));
  const std::regex elsewhere("https?://(?!www\\.w3\\.org/2000/svg)|src=|href=|@import");
  EXPECT_FALSE(std::regex_search(html, elsewhere));
}

TEST(GanttSvg, AnEmptyRunIsAPictureToo) {
  const std::string svg = gantt_svg({}, {}, {});
  EXPECT_THAT(svg, HasSubstr("</svg>"));
  EXPECT_THAT(svg, Not(HasSubstr("nan")));
  EXPECT_THAT(svg, Not(HasSubstr("inf")));
}

TEST(GanttSvg, StaysSmallForManyHostsAndTasks) {
  VirtualGrid grid;
  Simulated run{};
  run.makespan = 1000;
  for (std::uint32_t host = 0; host < 1000; ++host) {
    grid.hosts.push_back({});
    for (std::uint32_t i = 0; i < 100; ++i)
      run.tasks.push_back({TaskId(host * 100 + i + 1), host, i * 10.0, i * 10.0 + 9, i * 10.0 + 9});
  }
  engine::Workload workload{.count = 100'000};
  workload.file_bytes = {1, 1, 1};
  workload.files = [](TaskId task) { return std::vector{FileId(task.value() % 3)}; };
  const std::string svg = gantt_svg(run, grid, workload);
  EXPECT_LT(svg.size(), 3'000'000U);
  EXPECT_EQ(occurrences(svg, "v1h-"), 100'000U);  // no two neighbours are alike
  EXPECT_THAT(svg, HasSubstr("100,000 tasks on 1,000 hosts"));
}

TEST(SvgText, ReplacesWhatXmlDoesNotAllow) {
  EXPECT_EQ(svg_text("héllo – ✓"), "héllo – ✓");
  EXPECT_EQ(svg_text("a\tb\x7f"), "a b ");
  EXPECT_EQ(svg_text("\xc3"), "?");            // cut off
  EXPECT_EQ(svg_text("\xc0\xaf"), "??");       // an overlong slash
  EXPECT_EQ(svg_text("\xed\xa0\x80"), "???");  // a surrogate
  EXPECT_EQ(svg_text("\xef\xbf\xbf"), "???");  // no character
  EXPECT_EQ(svg_text("\xf5\x80\x80\x80"), "????");
}

TEST(SvgText, ReadsWell) {
  EXPECT_EQ(svg_number(3), "3");
  EXPECT_EQ(svg_number(3.14), "3.1");
  EXPECT_EQ(svg_number(-0.01), "0");
  EXPECT_EQ(count_text(0), "0");
  EXPECT_EQ(count_text(999), "999");
  EXPECT_EQ(count_text(123456), "123,456");
  EXPECT_EQ(count_text(1234567), "1,234,567");
  EXPECT_EQ(count_text(0, "task"), "0 tasks");
  EXPECT_EQ(count_text(1, "task"), "1 task");
  EXPECT_EQ(count_text(1200, "task"), "1,200 tasks");
  EXPECT_EQ(duration_text(2.5), "2.5 s");
  EXPECT_EQ(duration_text(340), "340 s");
  EXPECT_EQ(duration_text(725), "12 min 5 s");
  EXPECT_EQ(duration_text(7200), "2 h");
  EXPECT_EQ(duration_text(9610), "2 h 40 min");
  EXPECT_EQ(duration_text(3 * 86400 + 4 * 3600), "3 d 4 h");
  EXPECT_EQ(bytes_text(512), "512 B");
  EXPECT_EQ(bytes_text(1500), "1.5 KB");
  EXPECT_EQ(bytes_text(40e6), "40 MB");
  EXPECT_EQ(bytes_text(999.9e6), "1 GB");
}

TEST(TimeAxis, HasStepsThatReadWell) {
  EXPECT_EQ(time_axis(100, 10).step, 10);
  EXPECT_EQ(time_axis(1730, 10).step, 300);
  EXPECT_STREQ(time_axis(1730, 10).name, "min");
  EXPECT_EQ(time_axis(9000, 10).step, 900);
  EXPECT_EQ(time_axis(40'000, 10).step, 7200);
  EXPECT_STREQ(time_axis(1e7, 10).name, "d");
  for (double until = 0.001; until < 1e9; until *= 1.37) {
    const double marks = until / time_axis(until, 10).step;
    EXPECT_LE(marks, 10.001) << until;
    EXPECT_GE(marks, 1) << until;
  }
}

}  // namespace
}  // namespace gantry::simulate
