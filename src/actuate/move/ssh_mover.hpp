#pragma once
/// The stream mover over the system's ssh: files go over one host of the site that is up, and over
/// the next one when that fails. Owned by a Site, or by whoever fetches outputs.

#include <memory>

#include "actuate/launch/ssh/remote_site.hpp"
#include "actuate/launch/ssh/ssh_connection.hpp"
#include "actuate/mover.hpp"

namespace gantry {

/// `binary` must outlive the mover. Connects once use_hosts() has named a host.
std::unique_ptr<Mover> make_ssh_mover(RemoteSite site, const AgentBinary& binary);

}  // namespace gantry
