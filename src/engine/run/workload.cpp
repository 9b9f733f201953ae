#include "engine/run/workload.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "model/quantity.hpp"
#include "schedule/packing.hpp"

namespace gantry::engine {

std::string unplaceable(TaskId task, const Resources& resources, std::span<const Host> hosts) {
  std::uint32_t cores = 0;
  std::uint64_t memory = 0;
  Duration longest{0};
  std::string refused;
  for (const Host& host : hosts) {
    if (const Refusal* refusal = schedule::refusal_of(host, resources)) {
      refused = fmt::format("task {} cannot run on {}: {}", task.value(), host.name, refusal->why);
      continue;
    }
    const bool has_room = schedule::slots(host, resources) > 0;
    if (has_room && schedule::is_lent_long_enough(host, resources)) return {};
    if (has_room) longest = std::max(longest, host.lent_for);
    cores = std::max(cores, host.cores);
    memory = std::max(memory, host.memory);
  }
  if (hosts.empty()) return fmt::format("there is no host to run task {}", task.value());
  if (!refused.empty()) return refused;
  if (longest > Duration{0})
    return fmt::format("task {} needs {:.0f} s, tasks have {:.0f} s at the most where it could run",
                       task.value(), seconds(resources.walltime), seconds(longest));
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
