#pragma once
/// The chart that sched() is filling, and what it is filled from. Owned by sched(); refers to the
/// situation and the estimates.

#include <cstdint>
#include <span>

#include "schedule/gantt/gantt_chart.hpp"
#include "schedule/gantt/heuristic.hpp"
#include "schedule/gantt/hosts_by_site.hpp"
#include "schedule/planning.hpp"

namespace gantry::schedule {

struct Drawing {
  Drawing(const Situation& its_situation, const Estimates& its_estimates, Heuristic its_heuristic,
          const ChartOptions& options, std::uint64_t seed, std::span<const Seconds> free_hosts)
      : situation(its_situation),
        estimates(its_estimates),
        heuristic(its_heuristic),
        ranks(situation, seed),
        chart(situation, estimates, options),
        hosts(situation, estimates, ranks.of_host, free_hosts) {}

  const Situation& situation;
  const Estimates& estimates;
  Heuristic heuristic;
  TieRanks ranks;
  GanttChart chart;
  HostsBySite hosts;
};

}  // namespace gantry::schedule
