#include "schedule/depot_room.hpp"

#include <algorithm>

#include "schedule/numbered_world.hpp"

namespace gantry::schedule {

namespace {

/// As mostly: then there is no need to look for each task.
bool no_limits(const World& world) {
  return world.map != nullptr && world.map->depots.empty();
}

}  // namespace

bool fits(const World& world, const Host& host, const TaskNeeds& needs) {
  if (slots(host, needs.resources) == 0) return false;
  if (host.until != kNever &&
      !is_in_time(host, needs.resources, world.run_times.expected(needs.cost), world.now))
    return false;
  if (host.site == kHome || needs.files.empty() || no_limits(world)) return true;
  const SiteFiles* site = find_site(world, host.site);
  if (!has_limit(site)) return true;
  double bytes = 0;
  for (const FileId file : needs.files) bytes += world.file_bytes[file.value()];
  return bytes <= site->depot;
}

bool is_barred(const World& world, SiteId site, const std::vector<FileId>& files) {
  if (!world.barred || site == kHome) return false;
  const SiteFiles* known = find_site(world, site);
  return known != nullptr && std::ranges::any_of(files, [&](FileId file) {
           return std::ranges::binary_search(known->barred, file);
         });
}

bool has_room(const World& world, SiteId site, const std::vector<FileId>& files) {
  if (site == kHome || files.empty()) return true;
  if (is_barred(world, site, files)) return false;
  if (no_limits(world)) return true;
  const SiteFiles* known = find_site(world, site);
  if (!has_limit(known)) return true;
  double lacking = -known->free;
  for (const FileId file : files)
    if (!is_coming(known, file)) lacking += world.file_bytes[file.value()];
  for (const FileId file : known->idle) {
    if (lacking <= 0) break;
    if (!std::ranges::binary_search(files, file)) lacking -= world.file_bytes[file.value()];
  }
  return lacking <= 0;
}

bool is_coming(const SiteFiles* site, FileId file) {
  return site != nullptr && (std::ranges::binary_search(site->there, file) ||
                             std::ranges::binary_search(site->moving, file, {}, &MovingFile::file));
}

}  // namespace gantry::schedule
