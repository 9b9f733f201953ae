#pragma once
/// What a plan was made from, to notice when that does not hold any more. A plain value, owned by a
/// strategy.

#include "schedule/estimate_source.hpp"

namespace gantry::schedule {

/// A tenth of the hosts, by speed, or the link of a site is faster or slower than was believed, by
/// more than what tasks differ by. Hosts and sites that only one of the two knows do not count:
/// their coming and going is an event of its own.
[[nodiscard]] bool is_overturned(const Beliefs& then, const Beliefs& now);

class PlanBasis {
 public:
  /// A plan is made now.
  void remember(const World& world, const EstimateSource& estimates);
  /// Do the estimates say something else by now? Not asked again before `pause` has passed since
  /// they were last looked at.
  [[nodiscard]] bool is_outdated(const World& world, const EstimateSource& estimates,
                                 Seconds pause);

 private:
  Beliefs beliefs_;
  TimePoint looked_at_ = kNever;
};

}  // namespace gantry::schedule
