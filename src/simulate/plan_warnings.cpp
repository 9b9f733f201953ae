#include "simulate/plan_warnings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "engine/workload.hpp"

namespace gantry::simulate {

namespace {

/// The different ones, as an agent would describe them. What is not declared is no limit.
std::vector<Host> kinds_of_hosts(const std::vector<GridSite>& sites) {
  std::vector<Host> kinds;
  for (const GridSite& site : sites) {
    for (const GridHosts& hosts : site.hosts) {
      Host host{.id = HostId(0), .name = hosts.name, .cores = hosts.slots, .memory = hosts.memory};
      if (host.memory == 0) host.memory = std::numeric_limits<std::uint64_t>::max();
      const bool known = std::ranges::any_of(kinds, [&](const Host& other) {
        return other.cores == host.cores && other.memory == host.memory;
      });
      if (!known) kinds.push_back(std::move(host));
    }
  }
  return kinds;
}

/// Of the first task that fits on no host, why.
std::string first_misfit(const SweepApplication& study, const std::vector<Host>& hosts) {
  for (const auto& [resources, first] : study.needs)
    if (std::string why = engine::unplaceable(first, resources, hosts); !why.empty()) return why;
  return {};
}

}  // namespace

std::vector<std::string> plan_warnings(const Grid& grid, const SweepApplication& study) {
  std::vector<std::string> warnings;
  const std::string misfit = first_misfit(study, kinds_of_hosts(grid.sites));
  if (!misfit.empty())
    warnings.push_back(misfit + "; no run could start it, the plan gives it one slot");
  else if (std::ranges::any_of(study.needs,
                               [](const auto& one) { return one.resources.cores > 1; }))
    warnings.emplace_back("some tasks ask for several cores; the plan gives each task one slot");
  return warnings;
}

}  // namespace gantry::simulate
