#pragma once
/// Builds a site behind ssh: a launcher for its kind of hosts, and the mover over ssh.

#include "actuate/launch/ssh/remote_site.hpp"
#include "actuate/launch/ssh/ssh_connection.hpp"
#include "actuate/site.hpp"

namespace gantry {

/// A launcher for hosts behind ssh, for jobs that become hosts, or for a job per task. `binary`
/// must outlive it.
LaunchParts make_ssh_launcher(const RemoteSite& site, const AgentBinary& binary);

/// `facts.id` and `facts.name` are the site's. `binary` must outlive it.
SiteParts make_ssh_site(const RemoteSite& site, SiteFacts facts, ArrivalFolders folders,
                        const AgentBinary& binary);

}  // namespace gantry
