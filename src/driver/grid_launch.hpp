#pragma once
/// From the grid that a person described to what a run needs of it: its sites, each with a launcher
/// and a mover, and what the engine knows of them. One thread.

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

/// The sites of a run. Some may join while it goes on, and some may leave; numbers of sites and
/// hosts are never used again.
class GridLaunch {
 public:
  /// Without options.grid, this machine alone. `options` must outlive it.
  static Result<GridLaunch> make(const Options& options);
  /// These sites, and no others.
  GridLaunch(std::unique_ptr<Sites> sites, const Options& options, bool travels = false)
      : options_(&options), sites_(std::move(sites)), travels_(travels), grid_(options.grid) {}

  [[nodiscard]] Sites& sites() const { return *sites_; }
  /// Files go to other sites, or may.
  [[nodiscard]] bool travels() const { return travels_ || grid_.has_value(); }
  [[nodiscard]] const SiteMap& map() const { return map_; }
  /// With the sites that have joined, and those that have left; nullptr: this machine alone.
  [[nodiscard]] const Grid* grid() const { return grid_ ? &*grid_ : nullptr; }

  /// A site of that grid file, which no other site that is used may be called like.
  Result<SiteJoined> join(const std::filesystem::path& file, const std::string& name);
  /// The site that is called so and has not left. Errors say which there are.
  [[nodiscard]] Result<SiteId> find(const std::string& name) const;
  /// It gets no more hosts.
  void rest(SiteId site) { sites_->rest(site); }
  /// REQUIRES: find() gave it.
  void leave(SiteId site);

 private:
  /// `file`: that describes it.
  Result<SiteParts> launch(std::uint32_t site, const std::string& file);

  const Options* options_;
  std::unique_ptr<Sites> sites_;
  bool travels_ = false;
  std::optional<Grid> grid_;
  SiteMap map_{};
  SiteAgents agents_{};                ///< that launchers send to sites
  std::filesystem::path state_dir_{};  ///< absolute
  std::string holder_{};
  std::uint32_t next_host_ = 2;  ///< 1 is this machine
  std::set<SiteId> left_{};
};

}  // namespace gantry::driver
