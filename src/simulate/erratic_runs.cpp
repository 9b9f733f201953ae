#include "simulate/erratic_runs.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>
#include <vector>

#include "simulate/draws.hpp"

namespace gantry::simulate {

namespace {

constexpr std::uint32_t kFewestTasks = 12;
constexpr std::uint32_t kMostTasks = 100;
constexpr std::uint32_t kFewestSlots = 2;
constexpr std::uint32_t kMostSlots = 8;
/// Seconds, of a usual task.
constexpr double kShortest = 0.05;
constexpr double kLongest = 20;
/// By how much hosts are slower than declared, where they are unequal.
constexpr double kSlowest = 8;
/// As many as it takes: a run that fails has no end to be foretold.
constexpr std::uint32_t kRetries = 100;

double normal(Random& random) {
  const double radius = std::sqrt(-2 * std::log(1 - unit_of(random())));
  return radius * std::cos(2 * std::numbers::pi * unit_of(random()));
}

/// With a median of 1.
double log_normal(Random& random, double sigma) {
  return std::exp(sigma * normal(random));
}

/// 1 at the least; its mean is alpha / (alpha - 1).
double pareto(Random& random, double alpha) {
  return std::pow(1 - unit_of(random()), -1 / alpha);
}

/// Of each task, in usual ones.
std::vector<double> times_of(ErraticKind kind, std::uint32_t count, Random& random) {
  constexpr double kAlike = 0.1;  // what tasks that are alike differ by
  std::vector<double> times(count);
  switch (kind) {
    case ErraticKind::steady:
      for (double& time : times) time = log_normal(random, 0.2);
      break;
    case ErraticKind::steps: {
      const double step = log_between(random, 3, 30);
      const bool longer = unit_of(random()) < 0.5;
      const double from = between(random, 0.3, 0.7) * count;
      for (std::uint32_t i = 0; i < count; ++i)
        times[i] = log_normal(random, kAlike) * ((i >= from) == longer ? step : 1);
      break;
    }
    case ErraticKind::turns: {
      const double longer = log_between(random, 10, 2000);
      for (std::uint32_t i = 0; i < count; ++i)
        times[i] = log_normal(random, kAlike) * (i % 2 == 0 ? 1 / longer : 1);
      break;
    }
    case ErraticKind::heavy: {
      const bool is_pareto = unit_of(random()) < 0.5;
      for (double& time : times) time = is_pareto ? pareto(random, 1.5) : log_normal(random, 1.5);
      break;
    }
    case ErraticKind::dying:
      for (double& time : times) time = log_normal(random, 0.3);
      break;
  }
  return times;
}

/// A source of its own: tasks are the same on any hosts.
std::vector<VirtualHost> hosts_of(std::uint64_t seed, std::uint32_t number, std::uint32_t slots,
                                  ErraticHosts kind) {
  if (kind == ErraticHosts::one) return {{{.slots = slots}, kHome}};
  std::vector<VirtualHost> hosts(slots, {{.slots = 1}, kHome});
  if (kind == ErraticHosts::several) return hosts;
  Random random = chance_for(seed, "hosts", number);
  for (VirtualHost& host : hosts)
    host.spec.availability = Trace(1 / log_between(random, 1, kSlowest));
  return hosts;
}

}  // namespace

std::optional<ErraticKind> erratic_kind(std::string_view name) {
  const auto found = std::ranges::find(kErraticKinds, name);
  if (found == kErraticKinds.end()) return std::nullopt;
  return static_cast<ErraticKind>(found - kErraticKinds.begin());
}

Unforeseen erratic_run(std::uint64_t seed, ErraticKind kind, std::uint32_t number,
                       ErraticHosts hosts) {
  Random random = chance_for(seed, kErraticKinds[static_cast<std::size_t>(kind)], number);
  const auto count = static_cast<std::uint32_t>(log_between(random, kFewestTasks, kMostTasks + 1));
  const std::uint32_t slots = whole_between(random, kFewestSlots, kMostSlots);
  const double usual = log_between(random, kShortest, kLongest);
  const double dies = kind == ErraticKind::dying ? between(random, 0.1, 0.4) : 0;
  std::vector<double> times = times_of(kind, count, random);
  for (double& time : times) time *= usual;

  Unforeseen run;
  run.workload.count = count;
  run.workload.retry = {.retries = kRetries, .max_backoff = Duration{0}};
  run.workload.features = [](TaskId task) {
    return forecast::Features{static_cast<double>(task.value())};
  };
  run.grid.hosts = hosts_of(seed, number, slots, hosts);
  run.fate_of = [seed, number, dies, times = std::move(times)](TaskId task, AttemptId attempt) {
    const double whole = times[task.value() - 1];
    Random chance = chance_for(
        seed, "fate", (std::uint64_t{number} << 32U) + (task.value() << 8U) + attempt.value());
    if (unit_of(chance()) >= dies) return Fate{whole};
    return Fate{whole * unit_of(chance()), true};
  };
  return run;
}

}  // namespace gantry::simulate
