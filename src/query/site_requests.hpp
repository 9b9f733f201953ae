#pragma once
/// Sites join and leave the run that goes on in a state directory: posts the request to the gantry
/// that drives it, and waits until it has been carried out. Blocks its thread.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "model/grid.hpp"
#include "store/live_state.hpp"

namespace gantry::query {

/// The run that goes on here. An error when there is none.
Result<store::LiveState> run_that_goes_on(const std::filesystem::path& state_dir);

/// Null when the run does not use the site.
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

/// These sites of the grid file join; with no names, all that can. Waits some seconds for their
/// hosts to come up, and tells how the sites are then.
Result<std::vector<JoinedSite>> add_sites(const std::filesystem::path& state_dir, const Grid& grid,
                                          std::vector<std::string> names);

/// Tasks that must end before sites can leave.
struct WorkAtSites {
  std::uint32_t running = 0;   ///< tasks
  std::uint32_t homeward = 0;  ///< tasks that have ended there, and whose outputs come home
};

/// The sites leave as soon as what runs there has ended. Waits for that however long it takes, and
/// calls `waiting` several times a second meanwhile. REQUIRES: the run uses them.
Result<> drain_sites(const std::filesystem::path& state_dir, const store::LiveState& live,
                     const std::vector<std::string>& names,
                     const std::function<void(const WorkAtSites&)>& waiting);

}  // namespace gantry::query
