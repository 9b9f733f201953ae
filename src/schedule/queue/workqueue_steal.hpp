#pragma once
/// The work queue with work-stealing and task-duplication (APST's second algorithm). As long as
/// there are tasks for every host, it is the work queue. A host that finds none any more
///
/// - takes over a task that waits elsewhere for files that are at this host's site already;
/// - or runs a task a second time that another host was given: one that waits behind others there,
///   then the one that is most overdue. The first of the two to succeed counts.
///
/// Self-scheduled: it knows no host's speed and no link's, only how long tasks have taken so far.

#include "schedule/scheduler.hpp"

namespace gantry::schedule {

class WorkqueueSteal final : public Scheduler {
 public:
  [[nodiscard]] Appetite appetite() const override {
    return {.to_the_end = true, .takes_over = true};
  }
  void observe(const Event& event) override;
  [[nodiscard]] Plan plan(const World& world) override;
};

}  // namespace gantry::schedule
