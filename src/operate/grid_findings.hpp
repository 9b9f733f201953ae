#pragma once
/// What was learnt of a site, and what a person should know or mend. Pure: no connection is made.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "actuate/check/host_probe.hpp"
#include "actuate/check/link_gauge.hpp"
#include "model/grid.hpp"
#include "operate/grid_login.hpp"

namespace gantry::operate {

struct HostCheck {
  std::string name;
  std::uint32_t slots = 0;  ///< declared; 0 = one a core
  std::optional<HostFacts> facts;
  Error failure{};  ///< without facts: why
  /// Whether it sees the files that the site's first host wrote; nothing when it was not asked.
  std::optional<bool> shares_scratch;
};

/// Another site, from which this one was to fetch files.
struct PullCheck {
  std::string site;
  std::string ssh;   ///< what it is called there
  std::string host;  ///< that tried
  std::optional<Error> failure;
  std::optional<double> bandwidth{};  ///< bytes a second
};

struct SiteCheck {
  std::uint32_t site = 0;  ///< index in the grid
  std::vector<HostCheck> hosts;
  LinkSpeed speed;
  std::optional<Error> link_failure{};  ///< why it could not be measured
  std::vector<PullCheck> pulls{};
  std::optional<LoginCheck> login{};     ///< of a cluster, whose only host here is its login host
  std::optional<Error> login_failure{};  ///< why its batch system could not be asked
};

/// Jobs can be submitted there, as far as it was asked; of other sites always.
[[nodiscard]] bool takes_jobs(const GridSite& site, const SiteCheck& check);

/// The link that joins a site with another one, or with home; nullptr if the grid describes none.
const GridLink* link_between(const Grid& grid, std::uint32_t site, const std::string& other);

struct Finding {
  bool is_problem = true;  ///< a run cannot use it as it is described; else it could be better
  std::string host;        ///< empty: of the whole site
  std::string what;
  std::string fix;
};

std::vector<Finding> findings(const Grid& grid, const SiteCheck& check);

}  // namespace gantry::operate
