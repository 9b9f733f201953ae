#pragma once
/// The end of a site: whether anything runs there, and the removal of all that Gantry has made in
/// its scratch folder. Nothing else is touched, and no link is followed.

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace gantry::depot {

struct SiteLook {
  /// "HOLDER HOST" of agents that live, as seen from this host: a gantry is connected, or tasks
  /// run.
  std::vector<std::string> alive;
  std::vector<std::string> keeping;  ///< holders of whom outputs are kept there
  /// Something in the folder that Gantry has not put there; empty when there is nothing.
  std::string strange;
};
Result<SiteLook> look_at_site(const std::filesystem::path& scratch);

struct SiteRemoval {
  std::uint64_t bytes = 0;
  std::uint64_t files = 0;
  std::uint64_t kept = 0;  ///< folders of other holders
};
/// The depot, agents' programs, and the work of `holder`, of checks, and of `all` others if asked.
/// REQUIRES: look_at_site() has found nothing.
Result<SiteRemoval> remove_site(const std::filesystem::path& scratch, std::string_view holder,
                                bool all);

/// `gantry-agent clean`: tells what it sees on `out` ("alive HOLDER HOST", "keeping HOLDER",
/// "strange NAME", "looked"), and removes it when `in` says so ("removed BYTES FILES KEPT", or
/// "failed WHY").
Result<> serve_removal(int in, int out, const std::filesystem::path& scratch,
                       std::string_view holder, bool all);

}  // namespace gantry::depot
