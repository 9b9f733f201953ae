#pragma once
/// The world as planners want it: a Situation, and what its indices mean. A value, but for the
/// world and the estimates that it refers to.

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "schedule/estimate_source.hpp"
#include "schedule/planning.hpp"
#include "schedule/scheduler.hpp"

namespace gantry::schedule {

struct NumberedWorld {
  Situation situation;             ///< of tasks that fit on every host and into every depot
  std::vector<const Host*> slots;  ///< of situation.hosts
  std::vector<SiteId> sites;
  std::vector<ClassId> classes;
  std::vector<ClassId>
      choosy;  ///< classes for which some host or depot is too small: not in the situation
  std::unique_ptr<Estimates> estimates;
};

/// A planner's hosts differ in speed alone: a host has as many slots as the largest of its tasks
/// leave it.
[[nodiscard]] NumberedWorld numbered(const World& world, const EstimateSource& source);

/// nullptr when there is none.
[[nodiscard]] const ReadyClass* find_class(const World& world, ClassId id);
[[nodiscard]] const HostLoad* find_host(const World& world, HostId id);
[[nodiscard]] const SiteFiles* find_site(std::span<const SiteFiles> sites, SiteId id);
[[nodiscard]] inline const SiteFiles* find_site(const World& world, SiteId id) {
  return find_site(world.sites, id);
}

/// Are these files, which ascend, all at the site?
[[nodiscard]] bool are_there(const World& world, SiteId site, const std::vector<FileId>& files);

}  // namespace gantry::schedule
