// Runs in virtual time in which tasks are stolen and run twice.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <set>

#include "schedule/registry.hpp"
#include "simulate/grid_fixture.hpp"
#include "simulate/simulation.hpp"

namespace gantry::simulate {
namespace {

using testing::SizeIs;

constexpr SiteId kNearSite(1);
constexpr SiteId kDistantSite(2);

engine::Workload even_tasks(std::uint32_t count, double cost) {
  engine::Workload workload{.count = count};
  workload.cost = [cost](TaskId) { return cost; };
  return workload;
}
Simulated run_with(const engine::Workload& workload, const VirtualGrid& grid,
                   std::string_view strategy = "workqueue-steal") {
  auto made = simulate(workload, grid, std::move(schedule::make_scheduler(strategy).value()));
  EXPECT_TRUE(made) << made.error().message;
  return made ? *made : Simulated{};
}

TEST(Twins, ASlowHostDoesNotHoldUpTheEnd) {
  // Host 1 takes 20 s for a task, host 2 takes 500 s.
  const VirtualGrid grid{{host(kHome), host(kHome, 0.04)}};
  // Nothing is known at the start, so that two tasks are handed to each host, and the first host
  // gets the fifth. The second host's two tasks are done at 1000 s.
  EXPECT_DOUBLE_EQ(run_with(even_tasks(5, 20), grid, "workqueue").makespan, 1000);
  // At 60 s, when the first host is done with its own, it runs the one that waits there, too; at
  // 80 s the other, which has run for more than twice the 20 s that tasks take.
  const Simulated twice = run_with(even_tasks(5, 20), grid);
  EXPECT_DOUBLE_EQ(twice.makespan, 100);
  EXPECT_THAT(twice.tasks, SizeIs(5));
  // The second host worked in vain for 100 s: on task 2, and nothing on what waited.
  EXPECT_DOUBLE_EQ(twice.wasted, 100);
}

TEST(Twins, NothingIsDoubledThatIsExpectedToEndSoon) {
  const VirtualGrid grid{{host(kHome), host(kHome)}};
  const Simulated even = run_with(even_tasks(7, 20), grid);
  EXPECT_DOUBLE_EQ(even.makespan, 80);
  EXPECT_DOUBLE_EQ(even.wasted, 0);
}

TEST(Twins, AnOverdueTaskIsDoubledWhenItsTimeIsUp) {
  // 20 s a task, but host 2 stands still from 50 s to 1000 s.
  VirtualGrid grid{{host(kHome), host(kHome)}};
  grid.hosts[1].spec.availability = Trace::make({{0, 1}, {50, 0}, {1000, 1}}).value();
  // Each has done two at 40 s. The fifth and sixth end at 60 s and never; from 80 s on, the sixth
  // has run for twice the time that tasks take.
  EXPECT_DOUBLE_EQ(run_with(even_tasks(6, 20), grid).makespan, 100);
}

TEST(Twins, AHostThatFailsTakesOnlyOneOfTheTwo) {
  const VirtualGrid grid{{host(kHome), host(kHome, 0.04, {{90, kForever}})}};
  const Simulated result = run_with(even_tasks(5, 20), grid);
  EXPECT_DOUBLE_EQ(result.makespan, 100);
  EXPECT_THAT(result.tasks, SizeIs(5));
}

TEST(Twins, BytesOfBothCount) {
  VirtualGrid grid{{host(kNearSite), host(kDistantSite, 0.01)},
                   {std::nullopt, link(100), link(100)}};
  auto workload = even_tasks(1, 20);
  workload.private_bytes = [](TaskId) { return 100.0; };
  grid.hosts[0].spec.outages = {{0, 5}};  // so that the slow host gets it
  const Simulated result = run_with(workload, grid);
  // The fast host has the task's own input a second after it came up, and 20 s later the result.
  EXPECT_DOUBLE_EQ(result.makespan, 26);
  EXPECT_DOUBLE_EQ(result.bytes_moved, 200);
  EXPECT_THAT(result.tasks, SizeIs(1));
}

TEST(Steals, ATaskThatWaitsForAFileGoesWhereTheFileIs) {
  // Two tasks each, of 20 s; far away the file arrives after 1000 s only.
  auto workload = even_tasks(4, 20);
  workload.file_bytes = {1000};
  workload.files = [](TaskId) { return std::vector{FileId(0)}; };
  const VirtualGrid grid{{host(kHome), host(kDistantSite)}, {std::nullopt, std::nullopt, link(1)}};
  EXPECT_DOUBLE_EQ(run_with(workload, grid, "workqueue").makespan, 1040);
  const Simulated stolen = run_with(workload, grid);
  EXPECT_DOUBLE_EQ(stolen.makespan, 80);
  EXPECT_DOUBLE_EQ(stolen.wasted, 0);
}

RC_GTEST_PROP(TwinsProperty, EveryTaskHasOneResult, ()) {
  VirtualGrid grid;
  grid.links = {std::nullopt, link(*rc::gen::inRange(1, 50)), link(*rc::gen::inRange(1, 50))};
  const auto hosts = *rc::gen::inRange<std::uint32_t>(1, 6);
  for (std::uint32_t i = 0; i < hosts; ++i) {
    grid.hosts.push_back(
        host(SiteId(*rc::gen::inRange<std::uint32_t>(0, 3)), 0.1 * *rc::gen::inRange(1, 40)));
    const double down = *rc::gen::inRange(1, 300);
    if (*rc::gen::arbitrary<bool>()) grid.hosts.back().spec.outages = {{down, down + 20}};
  }
  engine::Workload workload{.count = *rc::gen::inRange<std::uint32_t>(1, 30)};
  const auto spread = *rc::gen::inRange(1, 60);
  workload.cost = [spread](TaskId task) { return 1.0 + task.value() * 7919 % spread; };
  workload.file_bytes = {100, 300};
  workload.files = [](TaskId task) { return std::vector{FileId(task.value() % 2)}; };
  workload.output_bytes = [](TaskId task) { return 10.0 * (task.value() % 3); };
  const auto result =
      simulate(workload, grid, std::move(schedule::make_scheduler("workqueue-steal").value()));
  RC_ASSERT(result.has_value());
  std::set<TaskId> done;
  for (const VirtualTask& task : result->tasks) RC_ASSERT(done.insert(task.task).second);
  RC_ASSERT(done.size() == workload.count);
  RC_ASSERT(result->wasted >= 0);
}

}  // namespace
}  // namespace gantry::simulate
