#pragma once
/// From the grid that a person described to what a run needs of it: a launcher for all its sites,
/// and what the engine knows of them. One thread.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "actuate/launch/all_sites.hpp"
#include "actuate/launch/ssh/remote_site.hpp"
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
  /// `base_dir`: the study's folder. Without options.grid, this machine alone. `options` must
  /// outlive it.
  static Result<GridLaunch> make(const Options& options, const std::filesystem::path& base_dir);
  /// These hosts, and no others.
  GridLaunch(std::shared_ptr<Launcher> launcher, const Options& options, bool travels = false)
      : options_(&options),
        launcher_(std::move(launcher)),
        travels_(travels),
        grid_(options.grid) {}

  [[nodiscard]] Launcher& launcher() const { return *launcher_; }
  /// Files go to other sites, or may.
  [[nodiscard]] bool travels() const { return travels_ || many_ != nullptr; }
  [[nodiscard]] const SiteMap& map() const { return map_; }
  /// With the sites that have joined, and those that have left; nullptr: this machine alone.
  [[nodiscard]] const Grid* grid() const { return grid_ ? &*grid_ : nullptr; }

  /// A site of that grid file, which no other site that is used may be called like.
  Result<SiteJoined> join(const std::filesystem::path& file, const std::string& name);
  /// The site that is called so and has not left. Errors say which there are.
  [[nodiscard]] Result<SiteId> find(const std::string& name) const;
  /// It gets no more hosts.
  void rest(SiteId site) { many_->rest(site); }
  /// REQUIRES: find() gave it.
  void leave(SiteId site);

 private:
  /// `file`: that describes it.
  Result<OtherSite> launch(std::uint32_t site, const std::string& file);

  const Options* options_;
  std::shared_ptr<Launcher> launcher_;
  bool travels_ = false;
  std::optional<Grid> grid_;
  std::shared_ptr<ManySites> many_{};  ///< the launcher, with a grid
  SiteMap map_{};
  SiteAgents agents_{};  ///< that launchers send to sites
  std::filesystem::path base_dir_{};
  std::filesystem::path state_dir_{};  ///< absolute
  std::string holder_{};
  std::uint32_t next_host_ = 2;  ///< 1 is this machine
  std::set<SiteId> left_{};
};

}  // namespace gantry::driver
