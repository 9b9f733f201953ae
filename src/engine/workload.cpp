#include "engine/workload.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "model/quantity.hpp"
#include "schedule/packing.hpp"

namespace gantry::engine {

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
                       format_bytes(resources.memory), format_bytes(memory));
  return fmt::format("task {} needs {} cores and {} of memory, no host has both", task.value(),
                     resources.cores, format_bytes(resources.memory));
}

}  // namespace gantry::engine
