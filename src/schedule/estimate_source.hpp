#pragma once
/// Where a planner's Estimates come from: the simulator's traces, or what a real run has learned.
/// Shared by the strategies of a run; called from the engine's thread.

#include <memory>
#include <span>

#include "schedule/planning.hpp"
#include "schedule/scheduler.hpp"

namespace gantry::schedule {

class EstimateSource {
 public:
  virtual ~EstimateSource() = default;
  /// For hosts and sites as the planner numbers them: slot i is one of *slots[i], site i is
  /// sites[i]. Time 0 is world.now. Does not outlive the arguments or the source.
  [[nodiscard]] virtual std::unique_ptr<Estimates> at(const World& world,
                                                      std::span<const Host* const> slots,
                                                      std::span<const SiteId> sites) const = 0;
};

}  // namespace gantry::schedule
