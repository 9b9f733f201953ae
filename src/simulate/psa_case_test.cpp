#include "simulate/psa_case.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace gantry::simulate {
namespace {

using testing::AllOf;
using testing::DoubleNear;
using testing::Ge;
using testing::Le;

constexpr std::uint64_t kSeed = 7;

const PsaCases& plain_cases() {
  static const PsaCases cases(kSeed);
  return cases;
}

std::size_t hosts_at(const VirtualGrid& grid, std::uint32_t site) {
  return static_cast<std::size_t>(std::ranges::count(grid.hosts, SiteId(site), &VirtualHost::site));
}

TEST(PsaCase, GridsAreInThePapersRanges) {
  std::set<std::size_t> clusters;
  std::set<std::size_t> hosts;
  for (std::uint32_t number = 0; number < 300; ++number) {
    const VirtualGrid grid = plain_cases().grid(number);
    clusters.insert(grid.links.size() - 1);
    EXPECT_FALSE(grid.links[0]);
    EXPECT_EQ(hosts_at(grid, 0), 0U);
    for (std::uint32_t site = 1; site < grid.links.size(); ++site) {
      ASSERT_TRUE(grid.links[site]);
      EXPECT_THAT(grid.links[site]->latency, AllOf(Ge(0.02), Le(0.2)));
      hosts.insert(hosts_at(grid, site));
    }
  }
  // All values, and no other, of U(2,12) and U(2,32).
  EXPECT_EQ(clusters.size(), 11U);
  EXPECT_EQ(*clusters.begin(), 2U);
  EXPECT_EQ(*clusters.rbegin(), 12U);
  EXPECT_EQ(hosts.size(), 31U);
  EXPECT_EQ(*hosts.begin(), 2U);
  EXPECT_EQ(*hosts.rbegin(), 32U);
}

TEST(PsaCase, ApplicationsAreInThePapersRanges) {
  std::set<std::size_t> simulations;
  double smallest_file = 1e9;
  double largest_file = 0;
  double cost = 0;
  std::size_t tasks = 0;
  for (std::uint32_t number = 0; number < 200; ++number) {
    const SimulatedTasks application = plain_cases().application(number);
    simulations.insert(application.file_bytes.size());
    const auto [least, most] = std::ranges::minmax(application.file_bytes);
    smallest_file = std::min(smallest_file, least);
    largest_file = std::max(largest_file, most);
    std::vector<std::size_t> of_simulation(application.file_bytes.size());
    for (const SimulatedTasks::Task& task : application.tasks) {
      ASSERT_EQ(task.files.size(), 1U);
      ++of_simulation[task.files[0].value()];
      EXPECT_THAT(task.cost, AllOf(Ge(100), Le(300)));
      EXPECT_EQ(task.private_bytes, 1000);
      EXPECT_EQ(task.output_bytes, 10'000);
      cost += task.cost;
    }
    for (const std::size_t count : of_simulation) EXPECT_THAT(count, AllOf(Ge(20U), Le(1000U)));
    tasks += application.tasks.size();
  }
  EXPECT_EQ(simulations.size(), 9U);
  EXPECT_EQ(*simulations.begin(), 2U);
  EXPECT_EQ(*simulations.rbegin(), 10U);
  EXPECT_THAT(smallest_file, AllOf(Ge(400e3), Le(1000e3)));
  EXPECT_THAT(largest_file, AllOf(Ge(99e6), Le(100e6)));
  EXPECT_THAT(cost / static_cast<double>(tasks), DoubleNear(200, 1));
  EXPECT_THAT(static_cast<double>(tasks) / 200, DoubleNear(6 * 510, 300));
}

TEST(PsaCase, ACaseIsMadeFromItsNumberAlone) {
  const PsaCase one = plain_cases().at(5);
  const PsaCase same = PsaCases(kSeed).at(5);
  EXPECT_EQ(one.grid_number, same.grid_number);
  EXPECT_EQ(one.application, same.application);
  ASSERT_EQ(one.grid.hosts.size(), same.grid.hosts.size());
  for (std::size_t i = 0; i < one.grid.hosts.size(); ++i)
    EXPECT_EQ(one.grid.hosts[i].spec.availability.when_done(0, 5000),
              same.grid.hosts[i].spec.availability.when_done(0, 5000));
  EXPECT_NE(PsaCases(kSeed + 1).at(5).application, one.application);
  EXPECT_NE(plain_cases().at(6).application, one.application);
}

TEST(PsaCase, HostsWithTheSameTraceAreShifted) {
  const VirtualGrid grid = plain_cases().grid(0);
  std::set<double> ends;
  for (const VirtualHost& host : grid.hosts) ends.insert(host.spec.availability.when_done(0, 5000));
  EXPECT_EQ(ends.size(), grid.hosts.size());
}

TEST(PsaCase, PerturbedApplicationsHaveAFifthMoreDependencies) {
  const PsaCases perturbed(kSeed, {.perturbed = true});
  std::size_t tasks = 0;
  std::size_t dependencies = 0;
  for (std::uint32_t number = 0; number < 50; ++number) {
    SimulatedTasks other = perturbed.application(number);
    const SimulatedTasks application = plain_cases().application(number);
    ASSERT_EQ(other.tasks.size(), application.tasks.size());
    for (std::size_t i = 0; i < other.tasks.size(); ++i) {
      auto& files = other.tasks[i].files;
      EXPECT_TRUE(std::ranges::is_sorted(files, std::ranges::less_equal()) || files.size() == 1);
      EXPECT_TRUE(std::ranges::binary_search(files, application.tasks[i].files[0]));
      dependencies += files.size() - 1;
      files = application.tasks[i].files;
    }
    EXPECT_EQ(other, application);
    tasks += other.tasks.size();
  }
  // A fifth, less those that were there already: with 2 to 10 files, one in about five.
  const double part = static_cast<double>(dependencies) / static_cast<double>(tasks);
  EXPECT_THAT(part, AllOf(Ge(0.14), Le(0.2)));
  EXPECT_EQ(perturbed.at(3).grid_number, plain_cases().at(3).grid_number);
  EXPECT_EQ(perturbed.at(3).application_number, plain_cases().at(3).application_number);
}

TEST(PsaCase, BandwidthIsScaled) {
  const PsaCases slow(kSeed, {.bandwidth_scale = 1});
  const PsaCases fast(kSeed, {.bandwidth_scale = 10});
  const auto carried = [](const PsaCases& cases) {
    return cases.grid(0).links[1]->bandwidth.integral(0, 1000);
  };
  EXPECT_NEAR(carried(fast) / carried(slow), 10, 1e-9);
}

TEST(PsaCase, LinksAreAsFastAsThePaperSays) {
  const PsaCases cases(kSeed, {.bandwidth_scale = 1});
  double sum = 0;
  std::size_t count = 0;
  for (std::uint32_t number = 0; number < 20; ++number) {
    for (const auto& link : cases.grid(number).links) {
      if (!link) continue;
      const double mean = link->bandwidth.integral(0, 4 * 86400) / (4 * 86400);
      EXPECT_THAT(mean, AllOf(Ge(35e3), Le(650e3)));
      sum += mean;
      ++count;
    }
  }
  // Log-uniform between 50 and 500 KB/s: 450 / ln 10 = 195 on average, of 20 traces.
  EXPECT_NEAR(sum / static_cast<double>(count), 195e3, 90e3);
}

TEST(SimulatedTasks, TheWorkloadSaysWhatItsTasksNeed) {
  const SimulatedTasks application{
      .file_bytes = {100, 200},
      .tasks = {{.cost = 3, .files = {FileId(1)}, .private_bytes = 4, .output_bytes = 5},
                {.cost = 6, .files = {FileId(0), FileId(1)}}}};
  const engine::Workload workload = workload_of(application);
  EXPECT_EQ(workload.count, 2U);
  EXPECT_EQ(workload.file_bytes, application.file_bytes);
  const TaskNeeds first = workload.needs_of(TaskId(1));
  EXPECT_EQ(workload.cost_of(TaskId(1)), 3);
  EXPECT_EQ(first.files, std::vector{FileId(1)});
  EXPECT_EQ(first.private_bytes, 4);
  EXPECT_EQ(first.output_bytes, 5);
  EXPECT_EQ(workload.needs_of(TaskId(2)).files.size(), 2U);
}

}  // namespace
}  // namespace gantry::simulate
