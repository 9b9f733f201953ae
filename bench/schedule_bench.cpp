// How long one call of sched() takes. The counters say how much was planned and how busy the
// machine was besides; a figure is worth little when others had the cores.

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <random>

#include "schedule/gantt/makespan_bound.hpp"
#include "schedule/gantt/sched.hpp"
#include "schedule/steady_estimates.hpp"

namespace gantry::schedule {
namespace {

struct Size {
  std::uint32_t tasks = 0;
  std::uint32_t files = 0;
  std::uint32_t works = 0;  ///< for each file: files x works classes
  std::uint32_t hosts = 0;
  std::uint32_t sites = 0;
  bool alike = false;  ///< the works of all files are the same
};

constexpr Size kHundredThousand{100'000, 10, 10, 1'000, 20};
constexpr Size kMillion{1'000'000, 10, 10, 10'000, 100};
constexpr Size kMillionFilesApart{1'000'000, 100, 1, 10'000, 100};
constexpr Size kOneLargeSite{1'000'000, 10, 10, 10'000, 1};
/// A sweep of 20 data sets with the same 50 settings each.
constexpr Size kSettings{10'000, 20, 50, 100, 5, true};
/// An application and grid of the paper's Table 1, of average size: six simulations of 510 tasks
/// with 185 different costs on seven clusters of 17 hosts.
constexpr Size kTable1{3'060, 6, 185, 119, 7};

Situation situation(const Size& size) {
  std::mt19937_64 random(1);
  const auto uniform = [&](double low, double high) {
    return std::uniform_real_distribution<>(low, high)(random);
  };
  Situation result;
  const std::uint32_t each = std::max(1U, size.tasks / (size.files * size.works));
  std::vector<double> works;
  for (std::uint32_t file = 0; file < size.files; ++file) {
    result.files.push_back({uniform(4e5, 1e8)});
    if (!size.alike) works.clear();
    while (works.size() < size.works) works.push_back(uniform(100, 300));
    for (const double work : works)
      result.classes.push_back({.waiting = each,
                                .work = work,
                                .files = {file},
                                .private_bytes = 1e3,
                                .output_bytes = 1e4});
  }
  result.sites.assign(size.sites, {.file_from = std::vector(size.files, kInfinite)});
  for (std::uint32_t host = 0; host < size.hosts; ++host)
    result.hosts.push_back({host % size.sites});
  return result;
}

std::vector<SteadyEstimates::Link> links(std::uint32_t sites) {
  std::mt19937_64 random(2);
  std::vector<SteadyEstimates::Link> result;
  for (std::uint32_t i = 0; i < sites; ++i)
    result.push_back({0.02, 5e4 * std::exp(std::uniform_real_distribution<>(0, 2.5)(random))});
  return result;
}

SteadyEstimates steady(const Size& size) {
  std::mt19937_64 random(3);
  std::vector<double> speeds;
  for (std::uint32_t i = 0; i < size.hosts; ++i)
    speeds.push_back(std::uniform_real_distribution<>(0.5, 3)(random));
  return {speeds, links(size.sites)};
}

/// Hosts whose speed changes every ten seconds over a day, like the CPU availability of the paper.
class Loaded final : public Estimates {
 public:
  explicit Loaded(const Size& size) : links_(std::vector<double>(0), links(size.sites)) {
    std::mt19937_64 random(4);
    for (std::size_t i = 0; i < kTraces; ++i) {
      std::vector<double> done{0};
      double available = 0.7;
      while (done.size() <= kSteps) {
        available += std::uniform_real_distribution<>(-0.1, 0.1)(random);
        available = std::clamp(available, 0.05, 1.0);
        done.push_back(done.back() + available * kStep * kSpeed);
      }
      done_.push_back(std::move(done));
    }
  }

  [[nodiscard]] Seconds computed(std::uint32_t host, Seconds from, double work) const override {
    Seconds end = 0;
    computed_each(host, from, {&work, 1}, {&end, 1});
    return end;
  }
  void computed_each(std::uint32_t host, Seconds from, std::span<const double> works,
                     std::span<Seconds> ends) const override {
    const std::vector<double>& done = done_[host % kTraces];
    const double offset = 37.0 * host;
    const double before = done_by(done, from + offset);
    auto step = static_cast<std::size_t>((from + offset) / kStep);
    for (std::size_t i = 0; i < works.size(); ++i) {
      const double target = before + works[i];
      while (total(done, step + 1) < target) ++step;
      const double at = total(done, step);
      const Seconds end =
          (static_cast<double>(step) + (target - at) / (total(done, step + 1) - at)) * kStep -
          offset;
      ends[i] = std::max(end, from + works[i] / kSpeed);
    }
  }
  [[nodiscard]] Seconds moved(std::uint32_t site, Seconds from, double bytes,
                              bool outbound) const override {
    return links_.moved(site, from, bytes, outbound);
  }
  [[nodiscard]] double fastest(std::uint32_t /*host*/) const override { return kSpeed; }

 private:
  static constexpr std::size_t kTraces = 50;
  static constexpr std::size_t kSteps = 8640;
  static constexpr Seconds kStep = 10;
  static constexpr double kSpeed = 2.3;

  static double total(const std::vector<double>& done, std::size_t step) {
    return done[step % kSteps] + static_cast<double>(step / kSteps) * done[kSteps];
  }
  static double done_by(const std::vector<double>& done, Seconds at) {
    const auto step = static_cast<std::size_t>(at / kStep);
    const double part = at / kStep - static_cast<double>(step);
    return total(done, step) + part * (total(done, step + 1) - total(done, step));
  }

  SteadyEstimates links_;
  std::vector<std::vector<double>> done_;
};

void run(benchmark::State& state, const Size& size, const Estimates& estimates,
         const SchedOptions& options) {
  const Situation now = situation(size);
  std::size_t planned = 0;
  for (auto _ : state) planned = sched(now, estimates, options).tasks.size();
  state.counters["planned"] = static_cast<double>(planned);
  double load = 0;
  if (getloadavg(&load, 1) == 1) state.counters["load"] = load;
}

/// The world of steady().
class SteadyCapacities final : public Capacities {
 public:
  explicit SteadyCapacities(const Size& size) : steady_(steady(size)) {}
  [[nodiscard]] double work(std::uint32_t host, Seconds from, Seconds until) const override {
    return steady_.speeds[host] * (until - from);
  }
  [[nodiscard]] double bytes(std::uint32_t site, Seconds from, Seconds until,
                             bool /*outbound*/) const override {
    const SteadyEstimates::Link& link = steady_.links[site];
    return std::max(0.0, until - from - link.latency) * link.bandwidth;
  }

 private:
  SteadyEstimates steady_;
};

void bounds(benchmark::State& state, const Size& size) {
  const Situation now = situation(size);
  const SteadyCapacities capacities(size);
  MakespanBounds found;
  for (auto _ : state) found = makespan_bounds(now, capacities);
  state.counters["compute"] = found.compute;
  state.counters["data"] = found.data;
}

constexpr Seconds kEvent = 500;

void register_all() {
  const auto add = [](const std::string& what, const Size& size, bool loaded,
                      const SchedOptions& base) {
    for (int i = 0; i < 4; ++i) {
      SchedOptions options = base;
      options.heuristic = static_cast<Heuristic>(i);
      const std::string title = what + "/" + std::string(name(options.heuristic));
      benchmark::RegisterBenchmark(title.c_str(), [=](benchmark::State& state) {
        if (loaded)
          run(state, size, Loaded(size), options);
        else
          run(state, size, steady(size), options);
      })->Unit(benchmark::kMillisecond);
    }
  };
  const SchedOptions each{.horizon = kEvent, .enough = Enough::each_covered};
  const SchedOptions all{.horizon = kEvent, .enough = Enough::all_covered};
  const SchedOptions queued{.horizon = kEvent,
                            .enough = Enough::each_covered,
                            .chart = {.private_inputs = PrivateInputs::queued}};
  Size fewer = kMillion;
  fewer.tasks = 100'000;
  add("100k_tasks_1k_hosts_20_sites", kHundredThousand, false, each);
  add("100k_tasks_1k_hosts_20_sites/all_covered", kHundredThousand, false, all);
  add("100k_tasks_1k_hosts_20_sites/queued_inputs", kHundredThousand, false, queued);
  add("100k_tasks_1k_hosts_20_sites/loaded", kHundredThousand, true, each);
  add("1M_tasks_10k_hosts_100_sites", kMillion, false, each);
  add("1M_tasks_10k_hosts_100_sites/all_covered", kMillion, false, all);
  add("1M_tasks_10k_hosts_100_sites/queued_inputs", kMillion, false, queued);
  add("1M_tasks_10k_hosts_100_sites/loaded", kMillion, true, each);
  add("1M_tasks_10k_hosts_100_sites/100_files", kMillionFilesApart, false, each);
  add("100k_tasks_10k_hosts_100_sites", fewer, false, each);
  add("1M_tasks_10k_hosts_1_site", kOneLargeSite, false, each);
  add("10k_tasks_100_hosts_5_sites/settings", kSettings, true, {});
  add("table_1", kTable1, true, each);
  add("table_1/once", kTable1, true, {});
  const auto add_bounds = [](const char* what, const Size& size) {
    benchmark::RegisterBenchmark(what, [size](benchmark::State& state) {
      bounds(state, size);
    })->Unit(benchmark::kMillisecond);
  };
  add_bounds("bounds/table_1", kTable1);
  add_bounds("bounds/100k_tasks_1k_hosts_20_sites", kHundredThousand);
  add_bounds("bounds/1M_tasks_10k_hosts_100_sites", kMillion);
}

}  // namespace
}  // namespace gantry::schedule

int main(int argc, char** argv) {
  gantry::schedule::register_all();
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
