#include "driver/grid_launch.hpp"

#include <sys/random.h>

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "actuate/launch/local/local_launcher.hpp"
#include "actuate/ssh_site.hpp"
#include "base/fd.hpp"
#include "base/machine.hpp"
#include "model/suggest.hpp"

namespace gantry::driver {

namespace {

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

std::uint64_t home_memory(const Options& options) {
  std::uint64_t declared = 0;
  if (options.grid)
    for (const GridHosts& hosts : options.grid->sites.front().hosts) {
      if (hosts.memory == 0) return usable_memory();
      declared += hosts.count * hosts.memory;
    }
  return declared > 0 ? declared : usable_memory();
}

double depot_of(const GridSite& site) {
  return site.depot == 0 ? std::numeric_limits<double>::infinity()
                         : static_cast<double>(site.depot);
}

Way way_of(const GridLink& link) {
  Way way{SiteId(link.from), SiteId(link.to), link.bandwidth, seconds(link.latency),
          link.sharing == LinkSharing::fair ? 1 : link.streams};
  if (link.from == 0) return way;
  way.forth = !link.from_at_to.empty();  // a site logs in to the one that has a file
  way.back = !link.to_at_from.empty();
  return way;
}

/// Two agents of ours in one folder would drive each other out.
bool are_same_machines(const GridSite& one, const GridSite& other) {
  const auto way_to = [](const GridSite& site) {
    return std::tie(site.access, site.user, site.ssh_config, site.scratch, site.batch.login);
  };
  if (one.access == SiteAccess::none || way_to(one) != way_to(other)) return false;
  return std::ranges::any_of(one.hosts, [&](const GridHosts& host) {
    return std::ranges::find(other.hosts, host.name, &GridHosts::name) != other.hosts.end();
  });
}

SiteMap map_of(const Grid& grid) {
  SiteMap map{.learns = true};
  for (const GridSite& site : grid.sites) map.depots.push_back(depot_of(site));
  for (const GridLink& link : grid.links)
    if (const Way way = way_of(link); way.forth || way.back) map.ways.push_back(way);
  return map;
}

}  // namespace

Result<std::vector<GivingSite>> giving_sites(const Grid& grid, SiteId id, SiteAgents& agents) {
  std::vector<GivingSite> giving;
  for (const GridLink& link : grid.links) {
    const bool is_from = link.from == id.value();
    if (!is_from && link.to != id.value()) continue;
    const std::string& name = is_from ? link.to_at_from : link.from_at_to;
    if (name.empty()) continue;
    const std::uint32_t other = is_from ? link.to : link.from;
    TRY_ASSIGN(const AgentBinary* agent, agents.of(grid.sites[other]));
    std::string scratch = std::filesystem::path(grid.sites[other].scratch).lexically_normal();
    if (scratch.ends_with('/')) scratch.pop_back();
    const depot::PeerSite reach{name, scratch, agent->image.name};
    if (!is_usable(reach))
      return fail(ErrorCode::usage,
                  "site " + grid.sites[other].name +
                      ": other sites cannot use its scratch folder " + scratch,
                  "name another with scratch:, or remove 'ssh' from its links");
    giving.push_back({SiteId(other), grid.sites[other].name, reach});
  }
  return giving;
}

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

Result<GridLaunch> GridLaunch::make(const Options& options) {
  SiteParts home{.facts = {.id = kHome, .name = std::string(kHomeSite)},
                 .launch = make_local_launcher(
                     {options.state_dir, home_cores(options), home_memory(options)})};
  GridLaunch result(nullptr, options);
  std::vector<SiteParts> others;
  HomeUse use = HomeUse::runs_tasks;
  if (options.grid) {
    const Grid& grid = *result.grid_;
    result.state_dir_ = std::filesystem::absolute(options.state_dir);
    TRY_ASSIGN(result.holder_, read_or_make_id(result.state_dir_));
    result.map_ = map_of(grid);
    if (grid.sites.front().hosts.empty()) use = HomeUse::only_listens;
    for (std::uint32_t i = 1; i < grid.sites.size(); ++i) {
      if (grid.sites[i].access == SiteAccess::none) continue;
      TRY_ASSIGN(auto other, result.launch(i, grid.file));
      others.push_back(std::move(other));
    }
  }
  result.sites_ = std::make_unique<Sites>(std::move(home), use, std::move(others));
  return result;
}

Result<SiteParts> GridLaunch::launch(std::uint32_t site, const std::string& file) {
  const GridSite& described = grid_->sites[site];
  RemoteSite remote = remote_site(described, SiteId(site), next_host_);
  remote.holder = holder_;
  remote.grid_file = std::filesystem::absolute(file).string();
  SiteFacts facts{.id = remote.id, .name = remote.name, .staged = described.staged};
  TRY_ASSIGN(facts.giving, giving_sites(*grid_, remote.id, agents_));
  facts.gives = std::ranges::any_of(grid_->links, [&](const GridLink& link) {
    return (link.from == site && !link.from_at_to.empty()) ||
           (link.to == site && !link.to_at_from.empty());
  });
  TRY_ASSIGN(const AgentBinary* agent, agents_.of(described));
  return make_ssh_site(remote, std::move(facts),
                       {.incoming = state_dir_ / "incoming", .output_dir = state_dir_ / "output"},
                       *agent);
}

Result<SiteId> GridLaunch::find(const std::string& name) const {
  std::vector<std::string> names;
  for (std::uint32_t i = 1; grid_ && i < grid_->sites.size(); ++i) {
    const GridSite& site = grid_->sites[i];
    if (site.access == SiteAccess::none || left_.contains(SiteId(i))) continue;
    if (site.name == name) return SiteId(i);
    names.push_back(site.name);
  }
  return fail(ErrorCode::usage, fmt::format("the run uses no site '{}'", name),
              did_you_mean(name, names));
}

Result<SiteJoined> GridLaunch::join(const std::filesystem::path& file, const std::string& name) {
  if (!grid_ || !options_->read_grid)
    return fail(ErrorCode::usage, "the run was started without --grid: no site can join it");
  if (find(name)) return fail(ErrorCode::usage, fmt::format("site '{}' is used already", name));
  TRY_ASSIGN(const Grid read, options_->read_grid(file));
  const auto described = std::ranges::find(read.sites, name, &GridSite::name);
  if (described == read.sites.begin() || described == read.sites.end() ||
      described->access == SiteAccess::none)
    return fail(ErrorCode::usage, fmt::format("{}: no site '{}' can be used", read.file, name));
  for (std::uint32_t i = 1; i < grid_->sites.size(); ++i)
    if (!left_.contains(SiteId(i)) && are_same_machines(grid_->sites[i], *described))
      return fail(
          ErrorCode::usage,
          fmt::format("its machines are those of site '{}', which is used", grid_->sites[i].name));
  const auto index = static_cast<std::uint32_t>(grid_->sites.size());
  grid_->sites.push_back(*described);
  auto other = launch(index, read.file);
  if (!other) {
    grid_->sites.pop_back();
    return tl::unexpected<Error>(other.error());
  }
  SiteJoined joined{.site = SiteId(index), .depot = depot_of(*described)};
  const auto there = static_cast<std::uint32_t>(described - read.sites.begin());
  for (GridLink link : read.links) {
    if (link.from != 0 || link.to != there) continue;
    link.to = index;
    joined.way = way_of(link);
    grid_->links.push_back(std::move(link));
  }
  sites_->add(std::move(*other));
  return joined;
}

void GridLaunch::leave(SiteId site) {
  left_.insert(site);
  sites_->leave(site);
}

}  // namespace gantry::driver
