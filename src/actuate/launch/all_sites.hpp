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

/// They may come and go.
class ManySites : public Launcher {
 public:
  /// Its hosts appear as they are reached.
  virtual void add(OtherSite site) = 0;
  /// No more hosts are asked for there.
  virtual void rest(SiteId site) = 0;
  /// Lets the site go: its hosts vanish, its agents end when nothing runs there. Not home. Waits
  /// for some seconds at the most.
  virtual void leave(SiteId site) = 0;
};

/// `home_works`: else nothing is started there; what an earlier run left is still heard of. Host
/// numbers are different everywhere.
std::unique_ptr<ManySites> make_all_sites(std::unique_ptr<Launcher> home, bool home_works,
                                          std::vector<OtherSite> others);

}  // namespace gantry
