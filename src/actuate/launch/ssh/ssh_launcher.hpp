#pragma once
/// A site whose hosts are reached by ssh and share one storage: tasks run in sandboxes there, their
/// files come from the site's depot, and their outputs come home before their reports do. Owned by
/// the driver, used from its thread.

#include <memory>

#include "actuate/launch/ssh/remote_site.hpp"
#include "actuate/launch/ssh/ssh_connection.hpp"
#include "actuate/launcher.hpp"

namespace gantry {

/// `binary` must outlive the launcher.
std::unique_ptr<Launcher> make_ssh_launcher(RemoteSite site, const AgentBinary& binary);

}  // namespace gantry
