#pragma once
/// Where a planner's Estimates come from: the simulator's traces, or what a real run has learned.
/// Shared by the strategies of a run; called from the engine's thread.

#include <map>
#include <memory>
#include <span>

#include "schedule/planning.hpp"
#include "schedule/scheduler.hpp"

namespace gantry::schedule {

/// What is held of hosts and of links from home.
struct Beliefs {
  std::map<HostId, double> speeds{};      ///< work a second
  std::map<SiteId, double> bandwidths{};  ///< bytes a second
};

class EstimateSource {
 public:
  virtual ~EstimateSource() = default;
  /// For hosts and sites as the planner numbers them: slot i is one of *slots[i], site i is
  /// sites[i]. Time 0 is world.now. Does not outlive the arguments or the source.
  [[nodiscard]] virtual std::unique_ptr<Estimates> at(const World& world,
                                                      std::span<const Host* const> slots,
                                                      std::span<const SiteId> sites) const = 0;
  /// Of the hosts that are up and their sites, for plans to find out that they rest on something
  /// else. Empty: it knew all from the beginning.
  [[nodiscard]] virtual Beliefs beliefs(const World& /*world*/) const { return {}; }
};

}  // namespace gantry::schedule
