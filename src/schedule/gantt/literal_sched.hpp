#pragma once
/// For tests only: sched() as the paper writes it, a loop over tasks within a loop over hosts for
/// every assignment. Slow, and simple enough to be believed.

#include <algorithm>
#include <vector>

#include "schedule/gantt/sched.hpp"

namespace gantry::schedule {

class LiteralSched {
 public:
  LiteralSched(const Situation& situation, const Estimates& estimates, const SchedOptions& options)
      : situation_(situation),
        options_(options),
        chart_(situation, estimates, options.chart),
        ranks_(situation, options.seed) {
    for (std::uint32_t c = 0; c < situation.classes.size(); ++c)
      tasks_.insert(tasks_.end(), situation.classes[c].waiting, c);
  }

  GanttPlan run() && {
    while (!enough()) {
      std::size_t next = tasks_.size();
      Choice best;
      for (std::size_t i = 0; i < tasks_.size(); ++i) {
        const Choice choice = choose(tasks_[i]);
        if (choice.possible && (next == tasks_.size() || choice.priority < best.priority)) {
          next = i;
          best = choice;
        }
      }
      if (next == tasks_.size()) break;
      chart_.assign(tasks_[next], best.host);
      tasks_.erase(tasks_.begin() + static_cast<std::ptrdiff_t>(next));
    }
    return std::move(chart_).plan();
  }

 private:
  struct Choice {
    bool possible = false;
    std::uint32_t host = 0;
    Priority priority{};
  };

  [[nodiscard]] bool covered(std::uint32_t host) const {
    return chart_.host_free(host) >= options_.horizon + options_.margin;
  }
  [[nodiscard]] bool candidate(std::uint32_t host) const {
    return options_.enough == Enough::all_covered || !covered(host);
  }

  [[nodiscard]] bool enough() const {
    for (std::uint32_t h = 0; h < situation_.hosts.size(); ++h)
      if (!covered(h))
        for (const std::uint32_t task : tasks_)
          if (chart_.fit(task, h).returned < kInfinite) return false;
    return true;
  }

  [[nodiscard]] Completion completion(std::uint32_t task, std::uint32_t host) const {
    const Placement placement = chart_.fit(task, host);
    return {placement.returned, placement.end, ranks_.of_host[host]};
  }

  [[nodiscard]] Choice choose(std::uint32_t task) const {
    Choice choice;
    Completion best;
    for (std::uint32_t h = 0; h < situation_.hosts.size(); ++h) {
      if (!candidate(h)) continue;
      const Completion here = completion(task, h);
      if (here.returned < kInfinite && here < best) {
        best = here;
        choice.possible = true;
        choice.host = h;
      }
    }
    if (!choice.possible) return choice;
    Seconds other = kInfinite;
    for (std::uint32_t h = 0; h < situation_.hosts.size(); ++h)
      if (candidate(h) && differs(h, choice.host))
        other = std::min(other, completion(task, h).returned);
    choice.priority = priority(options_.heuristic, best, other, situation_.classes[task].work,
                               ranks_.of_class[task]);
    return choice;
  }

  /// Is it another choice than the best one, for the heuristic?
  [[nodiscard]] bool differs(std::uint32_t host, std::uint32_t best) const {
    return options_.heuristic == Heuristic::xsufferage
               ? situation_.hosts[host].site != situation_.hosts[best].site
               : host != best;
  }

  const Situation& situation_;
  SchedOptions options_;
  GanttChart chart_;
  TieRanks ranks_;
  std::vector<std::uint32_t> tasks_;
};

}  // namespace gantry::schedule
