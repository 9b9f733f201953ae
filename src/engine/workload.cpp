#include "engine/workload.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "schedule/packing.hpp"

namespace gantry::engine {

namespace {

std::string bytes_text(std::uint64_t bytes) {
  constexpr std::array kUnits{"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 1024 && unit + 1 < kUnits.size()) {
    value /= 1024;
    ++unit;
  }
  return fmt::format("{:.4g} {}", value, kUnits[unit]);
}

}  // namespace

std::string unplaceable(TaskId task, const Resources& resources, std::span<const Host> hosts) {
  std::uint32_t cores = 0;
  std::uint64_t memory = 0;
  for (const Host& host : hosts) {
    if (schedule::slots(host, resources) > 0) return {};
    cores = std::max(cores, host.cores);
    memory = std::max(memory, host.memory);
  }
  if (hosts.empty()) return fmt::format("there is no host to run task {}", task.value());
  if (resources.cores > cores)
    return fmt::format("task {} needs {} cores, the largest host has {}", task.value(),
                       resources.cores, cores);
  if (resources.memory > memory)
    return fmt::format("task {} needs {} of memory, the largest host has {}", task.value(),
                       bytes_text(resources.memory), bytes_text(memory));
  return fmt::format("task {} needs {} cores and {} of memory, no host has both", task.value(),
                     resources.cores, bytes_text(resources.memory));
}

}  // namespace gantry::engine
