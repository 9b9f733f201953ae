#pragma once
/// The agent programs that are sent to sites: this gantry's own, or the one that a site's `agent:`
/// names for machines of another architecture. Each is read once. Must outlive all connections that
/// use them.

#include <map>
#include <memory>
#include <string>

#include "actuate/launch/ssh/ssh_connection.hpp"
#include "model/grid.hpp"

namespace gantry::driver {

class SiteAgents {
 public:
  Result<const AgentBinary*> of(const GridSite& site);

 private:
  std::map<std::string, std::unique_ptr<const AgentBinary>> binaries_;  ///< by path; "": ours
};

}  // namespace gantry::driver
