#pragma once
/// Self-scheduling: the least loaded host takes the next task that it can run, until all are full.
/// No task overtakes an earlier one that the host could run too, so that large tasks are not
/// starved by small ones.

#include "schedule/scheduler.hpp"

namespace gantry::schedule {

class Workqueue final : public Scheduler {
 public:
  void observe(const Event& event) override;
  [[nodiscard]] Plan plan(const World& world) override;
};

}  // namespace gantry::schedule
