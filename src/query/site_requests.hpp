#pragma once
/// Lets sites join and leave the run in progress: posts a request to the gantry that drives it, and
/// waits until it has been carried out. Blocks its thread.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "model/grid.hpp"
#include "store/live_state.hpp"

namespace gantry::query {

/// The run in progress here. An error if there is none.
Result<store::LiveState> run_that_goes_on(const std::filesystem::path& state_dir);

/// Null if the run does not use the site.
[[nodiscard]] const store::LiveSite* find_site(const store::LiveState& live,
                                               const std::string& name);

/// Why none of a site's hosts is up.
struct SiteTrouble {
  std::string host{};  ///< empty: none has answered yet
  std::string why{};
};

struct JoinedSite {
  store::LiveSite site;
  std::optional<SiteTrouble> trouble{};
};

/// Lets these sites of the grid file join; without names, all that can. Waits some seconds for
/// their hosts to come up, and returns the state of each site then.
Result<std::vector<JoinedSite>> add_sites(const std::filesystem::path& state_dir, const Grid& grid,
                                          std::vector<std::string> names);

/// Tasks that must end before sites can leave.
struct WorkAtSites {
  std::uint32_t running = 0;   ///< tasks
  std::uint32_t homeward = 0;  ///< ended tasks whose outputs are on their way home
};

/// Lets the sites leave as soon as their tasks have ended. Waits as long as that takes, and calls
/// `waiting` several times a second. REQUIRES: the run uses them.
Result<> drain_sites(const std::filesystem::path& state_dir, const store::LiveState& live,
                     const std::vector<std::string>& names,
                     const std::function<void(const WorkAtSites&)>& waiting);

}  // namespace gantry::query
