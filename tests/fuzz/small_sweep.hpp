#pragma once
/// Builds and walks a fuzzed sweep when it is small; large ones are right to take long.

#include <cstdint>
#include <cstdlib>

#include "model/fingerprint.hpp"
#include "model/sweep.hpp"
#include "model/sweep_definition.hpp"

namespace gantry {

inline bool is_small(const SweepDefinition& definition) {
  constexpr std::uint64_t kMost = 10'000;
  std::uint64_t combinations = definition.sample ? definition.sample->points : 1;
  for (const auto& parameter : definition.parameters) {
    if (combinations > kMost || parameter.values.size() > kMost) return false;
    if (!parameter.values.continuous()) combinations *= parameter.values.size();
  }
  return combinations <= kMost;
}

/// Every task can be made, and made again it is the same.
inline void walk(const Sweep& sweep) {
  if (sweep.size() == 0) std::abort();
  Task reused;
  for (std::uint32_t number = 1; number <= sweep.size() && number <= 100; ++number) {
    const Task task = sweep.task(TaskId(number));
    sweep.fill_task(TaskId(sweep.size()), reused);
    sweep.fill_task(TaskId(number), reused);
    if (task.argv != reused.argv || task.parameters != reused.parameters) std::abort();
    if (command_digest(task) != command_digest(reused)) std::abort();
    if (!(sweep.resources(task.id) == task.resources)) std::abort();
    AttemptReport report;
    report.key.task = task.id;
    for (const auto& path : task.collect)
      report.collected.emplace_back(path, "{\"a\": [1, 2]}\nx,y\n");
    static_cast<void>(sweep.extract(report, "E = 1\nE = 2\n"));
  }
}

}  // namespace gantry
