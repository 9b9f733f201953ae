// One small study in virtual time, told in full for each self-scheduled strategy: a change of any
// decision shows here.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "schedule/registry.hpp"
#include "simulate/simulation.hpp"

namespace gantry::simulate {
namespace {

std::string told(const Result<Simulated>& run) {
  if (!run) return run.error().message;
  std::string text;
  for (const VirtualMove& move : run->moves)
    text += fmt::format("file {} to site {}: {} to {}\n", move.file.value(), move.site.value(),
                        move.sent, move.arrived);
  for (const VirtualTask& task : run->tasks)
    text += fmt::format("task {} on host {}: {} to {}, home {}\n", task.task.value(), task.host + 1,
                        task.started, task.computed, task.returned);
  return text +
         fmt::format("{} s, {} bytes, {} s wasted\n", run->makespan, run->bytes_moved, run->wasted);
}

/// Eight tasks of 20 s and 40 s in turn. Odd ones read file 0 (10 s to the lab), even ones file 1
/// (30 s). Host 1 is at home, host 2 in the lab, host 3 too, but ten times slower.
std::string story(std::string_view strategy) {
  engine::Workload workload{.count = 8};
  workload.cost = [](TaskId task) { return task.value() % 2 == 1 ? 20.0 : 40.0; };
  workload.file_bytes = {100, 300};
  workload.files = [](TaskId task) { return std::vector{FileId(1 - task.value() % 2)}; };
  workload.output_bytes = [](TaskId) { return 10.0; };
  const LinkSpec link{.bandwidth = Trace(10)};
  const VirtualGrid grid{
      {{{.speed = 1}, kHome}, {{.speed = 1}, SiteId(1)}, {{.speed = 0.1}, SiteId(1)}},
      {std::nullopt, link}};
  return told(
      simulate(workload, grid, std::move(schedule::make_scheduler(strategy, {.seed = 5}).value())));
}

TEST(StrategyGolden, Workqueue) {
  EXPECT_EQ(story("workqueue"), R"(file 1 to site 1: 0 to 30
file 0 to site 1: 0 to 40
task 1 on host 1: 0 to 20, home 20
task 4 on host 1: 20 to 60, home 60
task 2 on host 2: 30 to 70, home 71
task 7 on host 1: 60 to 80, home 80
task 5 on host 2: 70 to 90, home 91
task 8 on host 1: 80 to 120, home 120
task 6 on host 3: 30 to 430, home 431
task 3 on host 3: 430 to 630, home 631
631 s, 440 bytes, 0 s wasted
)");
}

TEST(StrategyGolden, WorkqueueSteal) {
  EXPECT_EQ(story("workqueue-steal"), R"(file 1 to site 1: 0 to 30
file 0 to site 1: 0 to 40
task 1 on host 1: 0 to 20, home 20
task 4 on host 1: 20 to 60, home 60
task 2 on host 2: 30 to 70, home 71
task 7 on host 1: 60 to 80, home 80
task 5 on host 2: 70 to 90, home 91
task 3 on host 2: 90 to 110, home 111
task 8 on host 1: 80 to 120, home 120
task 6 on host 2: 110 to 150, home 151
151 s, 440 bytes, 121 s wasted
)");
}

TEST(StrategyGolden, RoundRobin) {
  EXPECT_EQ(story("round-robin"), R"(file 0 to site 1: 0 to 10
file 1 to site 1: 0 to 40
task 1 on host 1: 0 to 20, home 20
task 3 on host 1: 20 to 40, home 40
task 5 on host 2: 10 to 30, home 41
task 6 on host 1: 40 to 80, home 80
task 2 on host 2: 40 to 80, home 81
task 8 on host 2: 80 to 120, home 121
task 7 on host 3: 10 to 210, home 211
task 4 on host 3: 210 to 610, home 611
611 s, 450 bytes, 0 s wasted
)");
}

TEST(StrategyGolden, Random) {
  EXPECT_EQ(story("random"), R"(file 0 to site 1: 0 to 10
file 1 to site 1: 0 to 40
task 2 on host 1: 0 to 40, home 40
task 1 on host 2: 10 to 30, home 41
task 3 on host 2: 30 to 50, home 51
task 7 on host 2: 50 to 70, home 71
task 6 on host 2: 70 to 110, home 111
task 5 on host 3: 10 to 210, home 211
task 4 on host 3: 210 to 610, home 611
task 8 on host 3: 610 to 1010, home 1011
1011 s, 470 bytes, 0 s wasted
)");
}

/// Sixteen tasks of 16, 32, 48 and 64 s, four for each of four files. Two sites with two hosts
/// each; host 2 turns out to be four times as slow as `best` believes, so that others take over its
/// tasks.
TEST(StrategyGolden, Best) {
  engine::Workload workload{.count = 16};
  workload.cost = [](TaskId task) { return 16.0 * static_cast<double>(1 + task.value() % 4); };
  workload.file_bytes = {128, 256, 384, 512};
  workload.files = [](TaskId task) {
    return std::vector{FileId(static_cast<std::uint32_t>((task.value() - 1) / 4))};
  };
  workload.output_bytes = [](TaskId) { return 16.0; };
  const auto grid = [](double second) {
    return VirtualGrid{
        {{{.speed = 1}, SiteId(1)},
         {{.speed = second}, SiteId(1)},
         {{.speed = 0.5}, SiteId(2)},
         {{.speed = 2}, SiteId(2)}},
        {std::nullopt, LinkSpec{.bandwidth = Trace(16)}, LinkSpec{.bandwidth = Trace(8)}}};
  };
  const schedule::SchedulerSetup setup{
      .estimates = exact_estimates(grid(1)), .interval = 64, .seed = 5};
  EXPECT_EQ(told(simulate(workload, grid(0.25),
                          std::move(schedule::make_scheduler("best", setup).value()))),
            R"(file 0 to site 2: 0 to 16
file 2 to site 1: 0 to 24
file 1 to site 2: 16 to 48
file 3 to site 1: 24 to 56
file 3 to site 2: 48 to 114
file 1 to site 1: 128 to 144
task 2 on host 4: 16 to 40, home 50
task 11 on host 1: 24 to 88, home 89
task 1 on host 4: 40 to 56, home 116
task 7 on host 4: 56 to 88, home 118
task 6 on host 4: 88 to 112, home 120
task 5 on host 4: 112 to 128, home 130
task 3 on host 3: 16 to 144, home 146
task 15 on host 1: 88 to 152, home 153
task 14 on host 4: 128 to 152, home 154
task 13 on host 4: 152 to 168, home 170
task 16 on host 3: 144 to 176, home 178
task 4 on host 4: 168 to 176, home 180
task 9 on host 1: 152 to 184, home 185
task 8 on host 4: 176 to 184, home 186
task 12 on host 1: 184 to 200, home 201
task 10 on host 2: 24 to 216, home 217
217 s, 2304 bytes, 0 s wasted
)");
}

}  // namespace
}  // namespace gantry::simulate
