#include "actuate/ssh_site.hpp"

#include <string>
#include <utility>

#include "actuate/launch/batch/pilot_launcher.hpp"
#include "actuate/launch/ssh/connection_hint.hpp"
#include "actuate/launch/ssh/ssh_launcher.hpp"
#include "actuate/move/ssh_mover.hpp"

namespace gantry {

namespace {

template <class Made>
LaunchParts parts_of(std::unique_ptr<Made> launcher) {
  Made* made = launcher.get();
  return {std::move(launcher), made, made};
}

}  // namespace

LaunchParts make_ssh_launcher(const RemoteSite& site, const AgentBinary& binary) {
  const bool lends_jobs = site.batch && site.batch->jobs == 0;
  if (lends_jobs) return parts_of(std::make_unique<PilotLauncher>(site, binary));
  return parts_of(std::make_unique<SshLauncher>(site, binary));
}

SiteParts make_ssh_site(const RemoteSite& site, SiteFacts facts, ArrivalFolders folders,
                        const AgentBinary& binary) {
  SiteParts parts{.facts = std::move(facts)};
  for (const RemoteHost& host : site.hosts) parts.hosts.push_back(host.id);
  parts.launch = make_ssh_launcher(site, binary);
  parts.mover = make_ssh_mover(site, binary);
  parts.folders = std::move(folders);
  const std::string by_hand =
      site.hosts.empty() ? site.name : ssh_by_hand(site.target(site.hosts.front()));
  parts.hint = [by_hand](std::string_view why) { return connection_hint(why, by_hand); };
  return parts;
}

}  // namespace gantry
