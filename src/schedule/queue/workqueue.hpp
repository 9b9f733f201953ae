#pragma once
/// Self-scheduling: the least loaded host takes the next task that it can run, until all are full.
/// No task overtakes an earlier one that the host could run too, so that large tasks are not
/// starved by small ones.

#include <vector>

#include "schedule/scheduler.hpp"

namespace gantry::schedule {

class Workqueue final : public Scheduler {
 public:
  void observe(const Event& event) override;
  [[nodiscard]] Plan plan(const World& world) override;
};

/// What the work queue hands out, for strategies that go on from there.
struct HandedOut {
  std::vector<Intent> starts;
  std::vector<Load> loads;         ///< by place in world.hosts, after the starts
  std::vector<std::size_t> taken;  ///< of each class, by place in world.classes
};
[[nodiscard]] HandedOut hand_out(const World& world);
/// Is a ready task left that the host could run?
[[nodiscard]] bool has_work_for(const Host& host, const World& world, const HandedOut& out);

}  // namespace gantry::schedule
