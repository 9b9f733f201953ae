#include "driver/grid_launch.hpp"

#include <sys/random.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "actuate/launch/all_sites.hpp"
#include "actuate/launch/local_launcher.hpp"
#include "actuate/launch/ssh_launcher.hpp"
#include "base/fd.hpp"
#include "base/machine.hpp"

namespace gantry::driver {

namespace {

constexpr std::uint32_t kFirstRemoteHost = 2;  ///< 1 is this machine

/// Tells this state directory from others at the sites that they share.
Result<std::string> read_or_make_id(const std::filesystem::path& state_dir) {
  const auto path = state_dir / "id";
  if (const auto known = read_file(path, 100)) {
    if (known->size() == 32) return *known;
  }
  Digest random;
  if (::getrandom(&random, sizeof random, 0) != static_cast<ssize_t>(sizeof random))
    return fail_errno("getrandom");
  TRY(write_file_atomic(path, random.hex()));
  return random.hex();
}

std::uint32_t home_cores(const Options& options) {
  if (options.jobs != 0) return options.jobs;
  if (!options.grid) return usable_cores();
  std::uint32_t slots = 0;
  for (const GridHosts& hosts : options.grid->sites.front().hosts)
    slots += hosts.slots_declared ? hosts.count * hosts.slots : usable_cores();
  return std::max(1U, slots);
}

SiteMap map_of(const Grid& grid) {
  SiteMap map;
  for (const GridSite& site : grid.sites)
    map.depots.push_back(site.depot == 0 ? std::numeric_limits<double>::infinity()
                                         : static_cast<double>(site.depot));
  for (const GridLink& link : grid.links) {
    if (link.from != 0) continue;  // files travel over home
    map.ways.push_back({kHome, SiteId(link.to), link.bandwidth, seconds(link.latency),
                        link.sharing == LinkSharing::fair ? 1 : link.streams});
  }
  return map;
}

}  // namespace

RemoteSite remote_site(const GridSite& site, SiteId id, std::uint32_t& next_host) {
  RemoteSite remote{.id = id, .name = site.name};
  for (const GridHosts& hosts : site.hosts)
    for (std::uint32_t i = 0; i < hosts.count; ++i)
      remote.hosts.push_back({HostId(next_host++), host_name(hosts, i),
                              hosts.slots_declared ? hosts.slots : 0, hosts.memory, hosts.speed});
  remote.user = site.user;
  remote.ssh_config = site.ssh_config;
  remote.scratch = site.scratch;
  remote.quota = site.depot;
  remote.staged = site.staged;
  if (lends_by_jobs(site.access)) {
    const GridBatch& batch = site.batch;
    remote.batch = BatchAccess{
        .system = site.access == SiteAccess::slurm ? BatchSystem::slurm : BatchSystem::sge,
        .login = batch.login,
        .request = {.queue = batch.queue,
                    .account = batch.account,
                    .walltime = batch.walltime,
                    .directives = batch.directives},
        .jobs = batch.jobs,
        .rate = batch.rate,
        .idle = batch.idle};
  }
  return remote;
}

Result<GridLaunch> launch_grid(const Options& options, const std::filesystem::path& base_dir) {
  GridLaunch result;
  auto home = make_local_launcher({options.state_dir, home_cores(options), usable_memory()});
  if (!options.grid) {
    result.launcher = std::move(home);
    return result;
  }
  const Grid& grid = *options.grid;
  const auto state_dir = std::filesystem::absolute(options.state_dir);
  TRY_ASSIGN(const std::string holder, read_or_make_id(state_dir));
  std::vector<OtherSite> others;
  std::uint32_t next_host = kFirstRemoteHost;
  for (std::uint32_t i = 1; i < grid.sites.size(); ++i) {
    if (grid.sites[i].access == SiteAccess::none) continue;
    RemoteSite remote = remote_site(grid.sites[i], SiteId(i), next_host);
    remote.base_dir = base_dir;
    remote.incoming = state_dir / "incoming";
    remote.output_dir = state_dir / "output";
    remote.holder = holder;
    remote.grid_file = std::filesystem::absolute(grid.file).string();
    OtherSite other{remote.id, remote.name, {}, nullptr};
    for (const RemoteHost& host : remote.hosts) other.hosts.push_back(host.id);
    TRY_ASSIGN(const AgentBinary* agent, result.agents.of(grid.sites[i]));
    other.launcher = make_ssh_launcher(std::move(remote), *agent);
    others.push_back(std::move(other));
  }
  result.travels = !others.empty();
  result.map = map_of(grid);
  result.launcher =
      make_all_sites(std::move(home), !grid.sites.front().hosts.empty(), std::move(others));
  return result;
}

}  // namespace gantry::driver
