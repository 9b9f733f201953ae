#include "simulate/trace_oracle.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "simulate/kernel.hpp"

namespace gantry::simulate {
namespace {

using schedule::kInfinite;

Trace made_of(std::vector<TraceStep> list, std::optional<double> period = {}) {
  return Trace::make(std::move(list), period).value();
}

/// A host at home, and one behind a link with two streams.
TraceGrid two_sites() {
  const LinkSpec link{.bandwidth = made_of({{0, 10}, {20, 5}}), .latency = 1, .streams = 2};
  return {.slots = {{.speed = 2, .availability = made_of({{0, 1}, {10, 0.5}})}, {}},
          .sites = {{}, {link, link}}};
}

TEST(TraceOracle, EstimatesAreWhatTheTracesSay) {
  const TraceGrid grid = two_sites();
  const TraceEstimates estimates(grid, 4, {0, 1}, {0, 1});
  // 2 a second for the 6 s until 10, then 1 a second.
  EXPECT_DOUBLE_EQ(estimates.computed(0, 0, 6), 3);
  EXPECT_DOUBLE_EQ(estimates.computed(0, 0, 15), 9);
  EXPECT_DOUBLE_EQ(estimates.computed(0, 7, 15), 22);
  // 10 a second from 5 until 20, then 5 a second.
  EXPECT_DOUBLE_EQ(estimates.moved(1, 0, 100, false), 11);
  EXPECT_DOUBLE_EQ(estimates.moved(1, 0, 200, true), 26);
  EXPECT_EQ(estimates.moved(0, 3, 1e9, false), 3);
  EXPECT_NEAR(estimates.fastest(0), 2, 1e-6);
  // A planner that knows the second host and site alone calls them 0.
  const TraceEstimates second(grid, 4, {1}, {1});
  EXPECT_DOUBLE_EQ(second.computed(0, 0, 6), 6);
  EXPECT_DOUBLE_EQ(second.moved(0, 0, 100, false), 11);
}

TEST(TraceOracle, ManyTransfersArriveAsEachDoes) {
  const TraceGrid grid = two_sites();
  const TraceEstimates estimates(grid, 4, {0, 1}, {0, 1});
  const std::vector<double> starts{0, 1, 7, 14.5, 15, 16, 40};
  std::vector<double> arrivals(starts.size());
  for (const std::uint32_t site : {0U, 1U}) {
    estimates.moved_each(site, starts, 30, true, arrivals);
    for (std::size_t i = 0; i < starts.size(); ++i)
      EXPECT_EQ(arrivals[i], estimates.moved(site, starts[i], 30, true));
  }
}

TEST(TraceOracle, CapacitiesAreTheirIntegrals) {
  const TraceCapacities capacities(two_sites());
  // 2 a second for the 6 s until 10, then 1 a second.
  EXPECT_DOUBLE_EQ(capacities.work(0, 4, 13), 15);
  // From 5 on 10 a second, in each of two streams.
  EXPECT_DOUBLE_EQ(capacities.bytes(1, 4, 15, false), 2 * 100);
  EXPECT_EQ(capacities.bytes(1, 4, 4.5, false), 0);  // still in its latency
  EXPECT_EQ(capacities.bytes(0, 0, 1, true), kInfinite);
}

/// Small numbers, so that cases are different in kind and not in size.
double any(int low, int high) {
  return *rc::gen::resize(rc::kNominalSize, rc::gen::inRange(low, high + 1));
}

Trace any_trace(int low, int high) {
  std::vector<TraceStep> list;
  for (int i = 0; i < 4; ++i) list.push_back({i * 5.0 + any(0, 4), any(low, high)});
  return made_of(std::move(list), 25).shifted(any(0, 24));
}

TEST(TraceOracle, FastestIsNeverExceeded) {
  EXPECT_TRUE(rc::check([] {
    TraceGrid grid;
    grid.slots.push_back({.speed = any(1, 4), .availability = any_trace(0, 3)});
    const TraceEstimates estimates(grid, any(0, 1000), {0}, {});
    const double from = any(0, 50) / 4;
    const double work = any(1, 100) / 3;
    RC_ASSERT(estimates.computed(0, from, work) >= from + work / estimates.fastest(0));
  }));
}

/// Hosts behind links, a file that all tasks need and is sent to each site at once, and tasks that
/// are handed out as hosts become free.
struct KernelRun {
  TraceGrid grid;
  schedule::Situation situation;

  KernelRun() {
    const auto sites = static_cast<std::uint32_t>(any(1, 3));
    situation.files = {{any(1, 40)}};
    situation.classes = {
        {.waiting = static_cast<std::uint32_t>(any(1, 12)), .work = any(1, 20), .files = {0}}};
    for (std::uint32_t site = 0; site < sites; ++site) {
      const LinkSpec link{.bandwidth = any_trace(1, 4), .latency = any(0, 2)};
      grid.sites.push_back({link, link});
      situation.sites.push_back({.file_from = {kInfinite}});
      for (double host = any(1, 3); host > 0; --host) {
        grid.slots.push_back({.speed = any(1, 3), .availability = any_trace(1, 3)});
        situation.hosts.push_back({.site = site});
      }
    }
  }

  [[nodiscard]] double makespan() const {
    Kernel kernel;
    for (const HostSpec& host : grid.slots) kernel.add_host(host);
    for (std::uint32_t site = 0; site < grid.sites.size(); ++site)
      kernel.start_transfer(kernel.add_link(*grid.sites[site].inbound), situation.files[0].bytes,
                            Token(site));
    std::uint32_t left = situation.classes[0].waiting;
    double last = 0;
    const auto hand_out = [&](std::uint32_t host) {
      if (left == 0) return;
      --left;
      kernel.start_computation(HostIndex(host), situation.classes[0].work, Token(1000 + host));
    };
    while (const auto event = kernel.next()) {
      const auto token = static_cast<std::uint32_t>(event->token.value());
      if (token >= 1000) {
        last = event->time;
        hand_out(token - 1000);
        continue;
      }
      for (std::uint32_t host = 0; host < situation.hosts.size(); ++host)
        if (situation.hosts[host].site == token) hand_out(host);
    }
    return last;
  }
};

TEST(TraceOracle, NothingThatHappensIsBetterThanTheBound) {
  EXPECT_TRUE(rc::check([] {
    const KernelRun run;
    const auto bounds = schedule::makespan_bounds(run.situation, TraceCapacities(run.grid));
    const double seen = run.makespan();
    RC_LOG() << "bounds " << bounds.compute << " and " << bounds.data << ", seen " << seen << '\n';
    RC_ASSERT(bounds.compute <= bounds.data);
    RC_ASSERT(bounds.data <= seen);
    // One host at one site has no choice: the bound is what happens.
    if (run.situation.hosts.size() == 1) RC_ASSERT(seen <= bounds.data * (1 + 1e-4));
  }));
}

}  // namespace
}  // namespace gantry::simulate
