#pragma once
/// sched(): the planner of Casanova et al., steps (2) to (6) of its Figure 3. Ongoing work is in
/// the situation; the heuristic fills a Gantt chart until there is enough; the chart is the plan.
/// The next scheduling event, step (1), is the caller's. A pure function; same arguments, same
/// plan.

#include <cstdint>

#include "schedule/gantt/gantt_chart.hpp"
#include "schedule/gantt/heuristic.hpp"
#include "schedule/planning.hpp"

namespace gantry::schedule {

/// A host is covered when its column reaches the next event and the margin after it.
enum class Enough : std::uint8_t {
  all_covered,   ///< until all hosts are; those that are may get more meanwhile
  each_covered,  ///< a host that is gets nothing more
};

struct SchedOptions {
  Heuristic heuristic = Heuristic::xsufferage;
  Seconds horizon = kInfinite;  ///< the next event
  Seconds margin = 0;
  Enough enough = Enough::all_covered;
  ChartOptions chart{};
  std::uint64_t seed = 0;  ///< of the order in which ties are decided
};

/// Cost: for each task assigned, about the classes whose best site changes by it; not the number of
/// tasks that wait. A task that could never complete anywhere is left out, and a host on which none
/// could does not count as uncovered.
[[nodiscard]] GanttPlan sched(const Situation& situation, const Estimates& estimates,
                              const SchedOptions& options);

}  // namespace gantry::schedule
