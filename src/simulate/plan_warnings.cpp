#include "simulate/plan_warnings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "engine/run/workload.hpp"

namespace gantry::simulate {

namespace {

/// The different ones, as an agent would describe them; the simulator has hosts of its own. What is
/// not declared is no limit.
void add_kinds(const GridSite& site, std::vector<gantry::Host>& kinds) {
  for (const GridHosts& hosts : site.hosts) {
    gantry::Host host{
        .id = HostId(0), .name = hosts.name, .cores = hosts.slots, .memory = hosts.memory};
    if (host.memory == 0) host.memory = std::numeric_limits<std::uint64_t>::max();
    const bool known = std::ranges::any_of(kinds, [&](const gantry::Host& other) {
      return other.cores == host.cores && other.memory == host.memory;
    });
    if (!known) kinds.push_back(std::move(host));
  }
}

bool runs_some(const PlannedTasks& study, const std::vector<gantry::Host>& hosts) {
  return std::ranges::any_of(study.needs, [&](const auto& one) {
    return engine::unplaceable(one.first, one.resources, hosts).empty();
  });
}

/// Bytes of the shared files of the task that has fewest.
double fewest_shared_bytes(const SimulatedTasks& application) {
  double fewest = std::numeric_limits<double>::infinity();
  for (const SimulatedTasks::Task& task : application.tasks) {
    double sum = 0;
    for (const FileId file : task.files) sum += application.file_bytes[file.value()];
    fewest = std::min(fewest, sum);
  }
  return fewest;
}

/// "site 'a'", "sites 'a', 'b', 'c' and 9 more"
std::string names_of(const std::vector<std::string_view>& sites) {
  constexpr std::size_t kNamed = 3;
  std::string text = sites.size() == 1 ? "site " : "sites ";
  for (std::size_t i = 0; i < std::min(sites.size(), kNamed); ++i)
    text += fmt::format("{}'{}'", i > 0 ? ", " : "", sites[i]);
  if (sites.size() > kNamed) text += fmt::format(" and {} more", sites.size() - kNamed);
  return text;
}

/// Sites whose hosts are of no use.
void add_idle_sites(const Grid& grid, const PlannedTasks& study,
                    std::vector<std::string>& warnings) {
  const double fewest = fewest_shared_bytes(study.tasks);
  std::vector<std::string_view> small;    // hosts
  std::vector<std::string_view> cramped;  // depot
  for (std::size_t i = 0; i < grid.sites.size(); ++i) {
    const GridSite& site = grid.sites[i];
    if (site.hosts.empty()) continue;
    std::vector<gantry::Host> kinds;
    add_kinds(site, kinds);
    if (!runs_some(study, kinds))
      small.push_back(site.name);
    else if (i > 0 && site.depot > 0 && static_cast<double>(site.depot) < fewest)
      cramped.push_back(site.name);
  }
  if (!small.empty())
    warnings.push_back(fmt::format(
        "no task fits on a host of {}: not enough cores or memory; the plan uses them all the same",
        names_of(small)));
  if (!cramped.empty())
    warnings.push_back(fmt::format(
        "no task can run at {}: there is no room in the depot for the shared files of any",
        names_of(cramped)));
}

/// Of the first task that fits on no host, why.
std::string first_misfit(const PlannedTasks& study, const std::vector<gantry::Host>& hosts) {
  for (const auto& [resources, first] : study.needs)
    if (std::string why = engine::unplaceable(first, resources, hosts); !why.empty()) return why;
  return {};
}

}  // namespace

std::vector<std::string> plan_warnings(const Grid& grid, const PlannedTasks& study) {
  std::vector<std::string> warnings;
  std::vector<gantry::Host> kinds;
  for (const GridSite& site : grid.sites) add_kinds(site, kinds);
  const std::string misfit = first_misfit(study, kinds);
  if (!misfit.empty())
    warnings.push_back(misfit + "; no run could start it, the plan gives it one slot");
  else if (std::ranges::any_of(study.needs,
                               [](const auto& one) { return one.resources.cores > 1; }))
    warnings.emplace_back("some tasks ask for several cores; the plan gives each task one slot");
  if (runs_some(study, kinds)) add_idle_sites(grid, study, warnings);
  return warnings;
}

}  // namespace gantry::simulate
