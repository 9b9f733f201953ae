#include "simulate/apst_sites.hpp"

#include <array>
#include <utility>

#include "simulate/draws.hpp"
#include "simulate/loaded_machines.hpp"

namespace gantry::simulate {

namespace {

struct ApstSite {
  SiteId id;
  std::uint32_t hosts = 0;
  double slower = 1;  ///< so many times slower is its link than that of TITECH
};
constexpr std::array<ApstSite, 3> kSites{{{kTitech, 32, 1}, {kUcsd, 8, 20}, {kUtk, 16, 40}}};

constexpr std::array<double, 6> kFileBytes{1e6, 1e6, 20e6, 20e6, 100e6, 100e6};
constexpr std::uint32_t kTasksOfAFile = 200;
constexpr double kSmallFile = 10e3;

VirtualGrid three_sites(const ApstOptions& options) {
  VirtualGrid grid;
  for (const ApstSite& site : kSites) {
    Random random = chance_for(options.seed, "three sites", site.id.value());
    grid.links.emplace_back(wide_area_link(random, options.titech_bandwidth / site.slower));
    for (std::uint32_t i = 0; i < site.hosts; ++i)
      grid.hosts.push_back({{.availability = loaded_cpu(random)}, site.id});
  }
  return grid;
}

SimulatedTasks six_simulations(const ApstOptions& options) {
  Random random = chance_for(options.seed, "six simulations", 0);
  SimulatedTasks made;
  made.file_bytes.assign(kFileBytes.begin(), kFileBytes.end());
  for (std::uint32_t file = 0; file < kFileBytes.size(); ++file)
    for (std::uint32_t i = 0; i < kTasksOfAFile; ++i)
      made.tasks.push_back({.cost = options.cheapest_task * whole_between(random, 1, 20),
                            .files = {FileId(file)},
                            .private_bytes = kSmallFile,
                            .output_bytes = kSmallFile});
  return made;
}

std::vector<std::pair<FileId, SiteId>> staged_files(ApstScenario scenario) {
  const auto file = [](std::uint32_t number) { return FileId(number); };
  std::vector<std::pair<FileId, SiteId>> staged;
  if (scenario == ApstScenario::d) {
    for (std::uint32_t number = 0; number < kFileBytes.size(); ++number)
      for (const ApstSite& site : kSites) staged.emplace_back(file(number), site.id);
    return staged;
  }
  if (scenario >= ApstScenario::b) staged = {{file(4), kUcsd}, {file(5), kUcsd}};
  if (scenario >= ApstScenario::c)
    staged.insert(staged.end(), {{file(2), kUtk}, {file(3), kUtk}, {file(4), kUtk}});
  return staged;
}

}  // namespace

ApstCase apst_case(ApstScenario scenario, const ApstOptions& options) {
  ApstCase made{three_sites(options), six_simulations(options)};
  made.grid.staged = staged_files(scenario);
  return made;
}

}  // namespace gantry::simulate
