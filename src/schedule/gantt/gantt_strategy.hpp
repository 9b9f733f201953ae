#pragma once
/// sched() as a strategy: plans at scheduling events, and follows the plan between them. What has
/// not begun is planned anew at the next event.

#include <cstdint>
#include <memory>

#include "schedule/estimate_source.hpp"
#include "schedule/gantt/event_interval.hpp"
#include "schedule/gantt/plan_basis.hpp"
#include "schedule/gantt/plan_follower.hpp"
#include "schedule/gantt/sched.hpp"
#include "schedule/scheduler.hpp"

namespace gantry::schedule {

/// What Casanova et al. leave open.
struct GanttChoices {
  Seconds margin = 0;  ///< of "enough", beyond the next event
  Enough enough = Enough::all_covered;
  ChartOptions chart{};
  /// A host that has room while there are tasks that were not planned yet is an event.
  bool plan_when_idle = true;
  /// Files that a plan wanted to send and that have not been sent yet will be, in that order.
  bool keep_queued_files = false;
};

struct GanttOptions {
  Heuristic heuristic = Heuristic::xsufferage;
  Seconds interval =
      kInfinite;          ///< between two events; never: plans once, and when that went wrong
  bool adaptive = false;  ///< the interval follows from how far off plans are
  GanttChoices choices{};
  std::uint64_t seed = 0;
};

class GanttStrategy final : public Scheduler {
 public:
  GanttStrategy(const GanttOptions& options, std::shared_ptr<const EstimateSource> estimates);

  [[nodiscard]] Appetite appetite() const override;
  void observe(const Event& event) override;
  [[nodiscard]] Plan plan(const World& world) override;

 private:
  void make_plan(const World& world);
  /// What is yet to be sent, and is no longer for the planner to decide.
  std::vector<PlannedTransfer> keep_queued_files(NumberedWorld& numbers) const;

  GanttOptions options_;
  std::shared_ptr<const EstimateSource> estimates_;
  PlanFollower follower_{false};
  bool outdated_ = true;
  PlanBasis basis_;
  bool barred_ = false;  ///< some file at some site, when it was asked before
  TimePoint planned_at_ = kNever;
  EventInterval interval_;
  TimePoint next_event_ = kNever;
};

/// Does this event make every plan for hosts and files doubtful?
[[nodiscard]] bool upsets_plans(const Event& event);

}  // namespace gantry::schedule
