#pragma once
/// Sites that join the run which goes on here, and leave it: asks the gantry that drives it, and
/// waits until it is so.

#include <string>
#include <vector>

#include "cli/context.hpp"
#include "model/grid.hpp"
#include "store/live_state.hpp"

namespace gantry::cli {

/// The run that goes on here. An error when there is none.
Result<store::LiveState> run_that_goes_on(const Context& context);

/// Does the run use the site?
[[nodiscard]] const store::LiveSite* find_site(const store::LiveState& live,
                                               const std::string& name);

struct JoinedSite {
  store::LiveSite site;
  std::string trouble{};  ///< why none of its hosts is up, as far as they should be
};

/// These sites of the grid file join, or all that can. Waits until their hosts are up, for some
/// seconds; the sites as they are then.
Result<std::vector<JoinedSite>> add_sites(Context& context, const Grid& grid,
                                          std::vector<std::string> names);

/// The sites leave, as soon as what runs there has ended. Waits for that, however long it takes,
/// and tells a person so. REQUIRES: the run uses them.
Result<> drain_sites(Context& context, const store::LiveState& live,
                     const std::vector<std::string>& names);

}  // namespace gantry::cli
