#pragma once
/// From which site a shared file is fetched: the one policy for the engine's own moves and for
/// strategies that send files ahead. Pure functions.

#include <optional>
#include <span>

#include "forecast/grid_forecast.hpp"
#include "model/site_map.hpp"
#include "schedule/scheduler.hpp"

namespace gantry::schedule {

struct FileSource {
  SiteId site = kHome;
  TimePoint arrives = kNever;  ///< at the destination, by what is known of the ways
};

/// What the policy looks at.
struct FileTraffic {
  const SiteMap& map;
  std::span<const SiteFiles> sites;
  std::span<const double> file_bytes;
  TimePoint now;
  const forecast::GridForecast* seen = nullptr;  ///< what was learnt of ways between sites, if any
};

/// When the file would be at `to` if it came from the site: after what is under way between the
/// two, and after it has arrived at the site itself. Nothing when there is no way, or the site will
/// not have the file. Ways from home that are not declared take no time.
[[nodiscard]] std::optional<TimePoint> arrival_from(const FileTraffic& traffic, SiteId site,
                                                    FileId file, SiteId to);

/// The site that delivers first, of those that have the file or will have it. All others hang on
/// the ways from home, so that another site is preferred when it delivers hardly later than home.
/// `avoid` is taken only when there is no other.
[[nodiscard]] FileSource choose_source(const FileTraffic& traffic, FileId file, SiteId to,
                                       std::optional<SiteId> avoid = std::nullopt);

}  // namespace gantry::schedule
