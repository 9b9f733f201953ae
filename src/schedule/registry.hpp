#pragma once
/// The strategies by name. To add one, see docs/howto/add-a-scheduler.md.

#include <memory>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "schedule/estimate_source.hpp"
#include "schedule/gantt/gantt_strategy.hpp"
#include "schedule/scheduler.hpp"

namespace gantry::schedule {

/// One machine needs no plan, many do.
inline constexpr std::string_view kDefaultStrategy = "workqueue";
inline constexpr std::string_view kGridStrategy = "best";

/// For strategies that plan ahead.
struct SchedulerSetup {
  std::shared_ptr<const EstimateSource> estimates{};  ///< none: what was declared and seen
  Seconds interval = kInfinite;                       ///< between two plans
  bool adaptive = false;                              ///< it follows from how far off they are
  std::uint64_t seed = 0;                             ///< decides ties
  GanttChoices choices{};                             ///< of those that use sched()
  bool second_attempts = false;                       ///< for stragglers, whatever the strategy
};

/// Error usage, listing the names there are, when there is no such strategy.
[[nodiscard]] Result<std::unique_ptr<Scheduler>> make_scheduler(std::string_view name,
                                                                const SchedulerSetup& setup = {});

[[nodiscard]] std::vector<std::string_view> strategy_names();

}  // namespace gantry::schedule
