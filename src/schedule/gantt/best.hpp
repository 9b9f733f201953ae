#pragma once
/// The strategy that people get who run on a grid and do not choose one: plans the whole of what is
/// left at each scheduling event by a search over what each site fetches, starting from what it
/// fetched in the last plan and from what Min-min and XSufferage would. Between events hosts share
/// work that is overdue, so that wrong estimates cost little. While more tasks are left than it can
/// search over, it does what XSufferage does; while tasks end within a second and share no files,
/// it is the work queue.

#include <cstdint>
#include <memory>

#include "schedule/estimate_source.hpp"
#include "schedule/gantt/event_interval.hpp"
#include "schedule/gantt/fetch_search.hpp"
#include "schedule/gantt/gantt_strategy.hpp"
#include "schedule/gantt/plan_basis.hpp"
#include "schedule/gantt/plan_follower.hpp"
#include "schedule/queue/workqueue.hpp"
#include "schedule/scheduler.hpp"

namespace gantry::schedule {

struct BestOptions {
  Seconds interval = kInfinite;   ///< between two events
  bool adaptive = false;          ///< it follows from how far off plans are
  std::uint32_t decodings = 300;  ///< for the first plan; later ones begin with what was found
  /// With many tasks fewer decodings: so many tasks are placed in all.
  std::uint64_t placements = 1'500'000;
  /// After a plan, before a host that has nothing to do makes another; longer with many tasks.
  Seconds rest = 1;
  std::uint64_t seed = 0;
};

class Best final : public Scheduler {
 public:
  Best(const BestOptions& options, std::shared_ptr<const EstimateSource> estimates);

  [[nodiscard]] Appetite appetite() const override { return too_many_.appetite(); }
  void observe(const Event& event) override;
  [[nodiscard]] Plan plan(const World& world) override;

 private:
  /// `search`: look for better lists; else those of the last plan.
  void make_plan(const World& world, bool search);
  [[nodiscard]] std::uint32_t budget(const World& world) const;
  [[nodiscard]] Seconds rest(const World& world) const;
  [[nodiscard]] FetchLists last_lists(const NumberedWorld& numbers) const;
  [[nodiscard]] FetchPlan find_plan(const NumberedWorld& numbers, std::uint32_t decodings) const;

  BestOptions options_;
  std::shared_ptr<const EstimateSource> estimates_;
  GanttStrategy too_many_;  ///< plans while there are more tasks than one can search over
  Workqueue too_short_;     ///< while a task would have ended before its plan is made
  PlanFollower follower_{true};
  bool outdated_ = true;
  PlanBasis basis_;
  bool barred_ = false;  ///< some file at some site, when it was asked before
  bool idle_ = false;    ///< a host has had nothing to do since the last plan
  TimePoint planned_at_ = kNever;
  TimePoint ends_ = kNever;  ///< all tasks, by the last plan
  EventInterval interval_;
  TimePoint next_event_ = kNever;
  std::map<SiteId, std::vector<FileId>> fetches_;  ///< of the last plan with that site
};

}  // namespace gantry::schedule
