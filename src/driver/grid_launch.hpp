#pragma once
/// From the grid that a person described to what a run needs of it: a launcher for all its sites,
/// and what the engine knows of them.

#include <memory>

#include "actuate/launch/remote_site.hpp"
#include "actuate/launcher.hpp"
#include "driver/driver.hpp"
#include "driver/site_agents.hpp"
#include "model/site_map.hpp"

namespace gantry::driver {

/// How to reach a site. Its hosts get the numbers from `next_host` on.
RemoteSite remote_site(const GridSite& site, SiteId id, std::uint32_t& next_host);

struct GridLaunch {
  SiteAgents agents;  ///< that launchers send to sites
  std::unique_ptr<Launcher> launcher;
  SiteMap map;
  bool travels = false;  ///< files go to other sites
};

/// `base_dir`: the study's folder. Without options.grid, this machine alone.
Result<GridLaunch> launch_grid(const Options& options, const std::filesystem::path& base_dir);

}  // namespace gantry::driver
