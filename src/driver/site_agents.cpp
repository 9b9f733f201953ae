#include "driver/site_agents.hpp"

#include <fmt/format.h>

namespace gantry::driver {

Result<const AgentBinary*> SiteAgents::of(const GridSite& site) {
  auto& known = binaries_[site.agent];
  if (known) return known.get();
  auto read = site.agent.empty() ? read_agent_binary() : read_agent_binary(site.agent);
  if (!read && !site.agent.empty())
    return fail(ErrorCode::usage,
                fmt::format("site '{}': its agent: {}", site.name, read.error().message),
                "agent: names a gantry-agent that was built for the machines of the site");
  if (!read) return tl::unexpected(read.error());
  known = std::make_unique<const AgentBinary>(std::move(*read));
  return known.get();
}

}  // namespace gantry::driver
