#pragma once
/// Any strategy, with a second attempt for stragglers: when no task is ready any more and a slot is
/// free, a task that runs far longer than tasks ever did beyond their forecast is started there
/// too, if that is expected to end first. The first of the two to succeed counts. Not when its site
/// is slow for all: then the forecast is wrong, not the task.

#include <memory>

#include "schedule/scheduler.hpp"

namespace gantry::schedule {

class Stragglers final : public Scheduler {
 public:
  /// REQUIRES: not null.
  explicit Stragglers(std::unique_ptr<Scheduler> strategy) : strategy_(std::move(strategy)) {}

  [[nodiscard]] Appetite appetite() const override;
  void observe(const Event& event) override { strategy_->observe(event); }
  [[nodiscard]] Plan plan(const World& world) override;

 private:
  std::unique_ptr<Scheduler> strategy_;
};

}  // namespace gantry::schedule
