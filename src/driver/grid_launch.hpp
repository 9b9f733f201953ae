#pragma once
/// Turns the grid file into what a run needs: its sites, each with a launcher and a mover, and the
/// map of sites that the engine uses. One thread.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "actuate/launch/ssh/remote_site.hpp"
#include "actuate/sites.hpp"
#include "driver/driver.hpp"
#include "driver/site_agents.hpp"
#include "model/event.hpp"
#include "model/site_map.hpp"

namespace gantry::driver {

/// How to reach a site. Its hosts get the numbers from `next_host` on.
RemoteSite remote_site(const GridSite& site, SiteId id, std::uint32_t& next_host);

/// The sites to which the hosts of this one can log in.
Result<std::vector<GivingSite>> giving_sites(const Grid& grid, SiteId id, SiteAgents& agents);

/// The sites of a run. Sites may join and leave during the run; numbers of sites and hosts are
/// never reused.
class GridLaunch {
 public:
  /// Without options.grid, this machine alone. `options` must outlive it.
  static Result<GridLaunch> make(const Options& options);
  /// These sites, and no others.
  GridLaunch(std::unique_ptr<Sites> sites, const Options& options, bool travels = false)
      : options_(&options), sites_(std::move(sites)), travels_(travels), grid_(options.grid) {}

  [[nodiscard]] Sites& sites() const { return *sites_; }
  /// Whether files go to other sites now, or may later.
  [[nodiscard]] bool travels() const { return travels_ || grid_.has_value(); }
  [[nodiscard]] const SiteMap& map() const { return map_; }
  /// The grid, including sites that joined or left during the run; nullptr: this machine alone.
  [[nodiscard]] const Grid* grid() const { return grid_ ? &*grid_ : nullptr; }

  /// Adds a site of that grid file. Its name must differ from those of all sites in use.
  Result<SiteJoined> join(const std::filesystem::path& file, const std::string& name);
  /// The site of this name that has not left. The error lists the sites there are.
  [[nodiscard]] Result<SiteId> find(const std::string& name) const;
  /// Asks for no more hosts there.
  void rest(SiteId site) { sites_->rest(site); }
  /// REQUIRES: find() gave it.
  void leave(SiteId site);

 private:
  /// `file`: the grid file that describes it.
  Result<SiteParts> launch(std::uint32_t site, const std::string& file);

  const Options* options_;
  std::unique_ptr<Sites> sites_;
  bool travels_ = false;
  std::optional<Grid> grid_;
  SiteMap map_{};
  SiteAgents agents_{};                ///< programs that launchers send to sites
  std::filesystem::path state_dir_{};  ///< absolute
  std::string holder_{};
  std::uint32_t next_host_ = 2;  ///< 1 is this machine
  std::set<SiteId> left_{};
};

}  // namespace gantry::driver
