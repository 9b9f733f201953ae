#pragma once
/// Takes Gantry away from a site: the depot, agents' programs and the work of a state directory.

#include <filesystem>
#include <string>

#include "depot/site_removal.hpp"
#include "model/grid.hpp"

namespace gantry::operate {

struct GridRemoveOptions {
  std::filesystem::path state_dir;
  bool all = false;         ///< also the work of other state directories
  bool unfetched = false;   ///< also outputs that are kept there
  bool beside_run = false;  ///< a run of this state directory goes on, without that site
  Duration patience = std::chrono::seconds(20);
};

/// `busy` when the site keeps outputs of this state directory that nobody has fetched, unless they
/// may go. Connects to nothing.
Result<> check_fetched(const std::string& site, const GridRemoveOptions& options);

/// `busy` while something runs there, and also when a host cannot be asked whether it does.
Result<depot::SiteRemoval> remove_from_site(const Grid& grid, const std::string& site,
                                            const GridRemoveOptions& options);

}  // namespace gantry::operate
