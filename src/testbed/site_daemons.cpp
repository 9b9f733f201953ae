#include "testbed/site_daemons.hpp"

#include <fmt/format.h>

namespace gantry::testbed {

namespace fs = std::filesystem;

fs::path inner_site(const TestbedPlan& plan, const SitePlan& site) {
  return inner_folder(plan.name) / "sites" / site.name;
}

std::vector<std::string> batch_environment(const TestbedPlan& plan, const SitePlan& site) {
  const std::string folder = inner_site(plan, site).string();
  switch (site.via) {
    case SiteVia::slurm:
      return {fmt::format("SLURM_CONF={}/slurm/slurm.conf", folder)};
    case SiteVia::sge:
      return {fmt::format("SGE_ROOT={}/sge/root", folder), "SGE_CELL=default",
              "SGE_QMASTER_PORT=6444", "SGE_EXECD_PORT=6445"};
    case SiteVia::ssh:
      break;
  }
  return {};
}

std::string hosts_text(const TestbedPlan& plan) {
  std::string text = fmt::format("127.0.0.1 localhost\n{} home\n", plan.home_address);
  for (const auto& [site, host] : all_hosts(plan))
    text += fmt::format("{} {}\n", host->address, host->name);
  return text;
}

HostDaemon daemon_on(const Ground& ground, const HostPlace& place, std::vector<std::string> argv,
                     const std::string& log) {
  const auto& [plan, files, group] = ground;
  const fs::path inner = inner_folder(plan.name);
  const fs::path own = inner_site(plan, *place.site);
  HostDaemon daemon;
  daemon.argv = std::move(argv);
  daemon.environment = batch_environment(plan, *place.site);
  daemon.log = files.host(place.host->name) / log;
  daemon.group = group.part(place.host->name);
  daemon.netns = place.host->netns;
  daemon.hostname = place.host->name;
  // The testbed's folder first: it may lie in what the others hide.
  daemon.binds = {{files.dir, inner},
                  {inner / "hosts_file", "/etc/hosts"},
                  {own / "home", home_of_root()},
                  {own / "tmp", "/tmp"}};
  return daemon;
}

}  // namespace gantry::testbed
