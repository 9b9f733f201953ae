#include "schedule/file_source.hpp"

#include <algorithm>
#include <functional>
#include <vector>

#include "schedule/numbered_world.hpp"
#include "schedule/planning.hpp"

namespace gantry::schedule {

namespace {

/// Another site may deliver later than home by this part of what home itself takes.
constexpr double kHardlyLater = 0.1;
constexpr Seconds kForAges = 1e9;

/// When the site has the file.
std::optional<TimePoint> had_from(const FileTraffic& traffic, SiteId site, FileId file) {
  if (site == kHome) return traffic.now;
  const SiteFiles* known = find_site(traffic.sites, site);
  if (known == nullptr) return std::nullopt;
  if (std::ranges::binary_search(known->there, file)) return traffic.now;
  const auto moving = std::ranges::lower_bound(known->moving, file, {}, &MovingFile::file);
  if (moving == known->moving.end() || moving->file != file) return std::nullopt;
  return std::max(moving->arrives, traffic.now);
}

/// When one of the way's streams has done what is under way between its ends.
TimePoint free_from(const FileTraffic& traffic, const Way& way) {
  std::vector<TimePoint> busy_until;
  const auto look = [&](SiteId from, SiteId to) {
    if (const SiteFiles* known = find_site(traffic.sites, to); known != nullptr)
      for (const MovingFile& moving : known->moving)
        if (moving.from == from) busy_until.push_back(moving.arrives);
  };
  look(way.one, way.other);
  look(way.other, way.one);
  if (busy_until.size() < way.streams) return traffic.now;
  std::ranges::sort(busy_until, std::greater{});
  return std::max(busy_until[way.streams - 1], traffic.now);
}

Duration transfer_time(const Way& way, double bytes, double bandwidth) {
  return from_seconds(std::min(way.latency + bytes / bandwidth, kForAges));
}

/// Slower than declared, if that was seen. Never faster: then it is not what limits.
double bandwidth_from(const FileTraffic& traffic, const Way& way, SiteId site) {
  if (traffic.seen == nullptr || site == kHome) return way.bandwidth;
  const auto seen = traffic.seen->bandwidth(site, way.one == site ? way.other : way.one);
  return seen ? std::min(*seen, way.bandwidth) : way.bandwidth;
}

std::optional<TimePoint> arrival_over(const FileTraffic& traffic, const Way& way, SiteId site,
                                      FileId file) {
  const auto had = had_from(traffic, site, file);
  if (!had) return std::nullopt;
  const double bytes = traffic.file_bytes[file.value()];
  return std::max(*had, free_from(traffic, way)) +
         transfer_time(way, bytes, bandwidth_from(traffic, way, site));
}

}  // namespace

std::optional<TimePoint> arrival_from(const FileTraffic& traffic, SiteId site, FileId file,
                                      SiteId to) {
  if (const Way* way = traffic.map.way(site, to)) return arrival_over(traffic, *way, site, file);
  if (site == kHome) return traffic.now;
  return std::nullopt;
}

FileSource choose_source(const FileTraffic& traffic, FileId file, SiteId to,
                         std::optional<SiteId> avoid) {
  const FileSource home{kHome, *arrival_from(traffic, kHome, file, to)};
  const Way* from_home = traffic.map.way(kHome, to);
  if (from_home == nullptr) return home;
  std::optional<FileSource> best;
  for (const Way& way : traffic.map.ways) {
    if (way.one == kHome || (way.one != to && way.other != to)) continue;
    const SiteId site = way.one == to ? way.other : way.one;
    if (!way.carries(site, to)) continue;
    const auto arrives = arrival_over(traffic, way, site, file);
    if (!arrives || site == avoid || (best && best->arrives <= *arrives)) continue;
    best = FileSource{site, *arrives};
  }
  if (!best) return home;
  const Duration takes =
      transfer_time(*from_home, traffic.file_bytes[file.value()], from_home->bandwidth);
  const TimePoint hardly_later = home.arrives + from_seconds(kHardlyLater * seconds(takes));
  return avoid == kHome || best->arrives <= hardly_later ? *best : home;
}

}  // namespace gantry::schedule
