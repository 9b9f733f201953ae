#pragma once
/// Whether tasks find room for their files, as far as a strategy can tell. Pure functions.

#include "schedule/scheduler.hpp"

namespace gantry::schedule {

/// Could the host run such a task if nothing else were there? It needs the resources, enough of
/// the host's time, and a depot at its site that holds the task's files.
[[nodiscard]] bool fits(const World& world, const Host& host, const TaskNeeds& needs);

/// Can these files, which ascend, be at the site: are they not barred there, and has the depot room
/// for them now, if what is idle there is dropped?
[[nodiscard]] bool has_room(const World& world, SiteId site, const std::vector<FileId>& files);

/// Could one of these files not be sent to the site lately?
[[nodiscard]] bool is_barred(const World& world, SiteId site, const std::vector<FileId>& files);

/// Is the file at the site, or on its way there? `site` may be nullptr: nothing is.
[[nodiscard]] bool is_coming(const SiteFiles* site, FileId file);

[[nodiscard]] inline bool has_limit(const SiteFiles* site) {
  return site != nullptr && site->depot < std::numeric_limits<double>::infinity();
}

}  // namespace gantry::schedule
