#pragma once
/// Several sites as one launcher: home, where the run ends if it fails, and others, without which
/// it goes on. Owned by the driver, used from its thread.

#include <memory>
#include <vector>

#include "actuate/launcher.hpp"

namespace gantry {

struct OtherSite {
  SiteId id;
  std::string name;
  std::vector<HostId> hosts;
  std::unique_ptr<Launcher> launcher;
};

/// `home_works`: else nothing is started there; what an earlier run left is still heard of. Host
/// numbers are different everywhere.
std::unique_ptr<Launcher> make_all_sites(std::unique_ptr<Launcher> home, bool home_works,
                                         std::vector<OtherSite> others);

}  // namespace gantry
