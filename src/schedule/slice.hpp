#pragma once
/// Classes that differ in nothing but their work, and what sched() knows of them at each site. It
/// may be old, but is never too late: completions only get later, until a file of the slice is sent
/// to the site. Of a slice that is settled what is known of the best sites is exact. Owned by
/// sched().

#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "schedule/gantt_chart.hpp"
#include "schedule/heuristic.hpp"
#include "schedule/hosts_by_site.hpp"
#include "schedule/planning.hpp"

namespace gantry::schedule {

/// The chart that is being filled, and what it is filled from.
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

class Slice {
 public:
  /// A class that may be chosen next, and the host where it is complete first.
  struct Choice {
    std::uint32_t task_class = 0;
    std::uint32_t site = 0;
    std::uint32_t host = 0;
    Completion completion{};
    Priority priority{};
  };

  /// `classes` as class_slices() gives them.
  Slice(const Drawing& drawing, std::vector<std::uint32_t> classes);

  /// What the heuristic would choose of this slice; nullptr if nothing can be complete anywhere.
  /// Until the slice is settled the truth may be worse, but not better.
  [[nodiscard]] const Choice* choice() const { return possible_ ? &choice_ : nullptr; }
  [[nodiscard]] bool settled() const { return settled_; }
  void settle(const Drawing& drawing);
  [[nodiscard]] bool reads_any_of(std::span<const std::uint32_t> files) const;

  /// No task of the class waits any more. REQUIRES: it was the choice.
  void remove(const Drawing& drawing, std::uint32_t task_class);
  /// Something was assigned at the site; `sent`: it had a file of this slice sent there.
  void update(const Drawing& drawing, std::uint32_t site, bool sent);

 private:
  /// One of the classes among which the heuristic chooses: all, but for min-min only the one with
  /// least work and for max-min the one with most.
  struct Slot {
    std::uint32_t task_class = 0;
    bool empty = false;     ///< no task of it waits any more
    bool possible = false;  ///< a task could be complete somewhere
    std::uint32_t first_site = 0;
    std::uint32_t second_site = 0;
    Completion elsewhere{0, 0, 0};  ///< at no other site is it complete before that
    Priority priority{};
  };

  [[nodiscard]] Completion& best(std::size_t slot, std::uint32_t site) {
    return best_[slot * sites_ + site];
  }
  [[nodiscard]] bool compares_sites() const { return heuristic_ >= Heuristic::sufferage; }
  void add_slot(const Drawing& drawing, std::uint32_t task_class);
  void drop_empty_slots();
  void give_slot_to_next(const Drawing& drawing);
  void reconsider_passed_over(const Drawing& drawing);
  void refresh(const Drawing& drawing, std::uint32_t site, bool runner_ups);
  void remember_best(const Drawing& drawing, std::uint32_t site);
  void offer_last_best(const Drawing& drawing, std::uint32_t site, Seconds from);
  std::span<const Seconds> ends(const Drawing& drawing, std::uint32_t site, std::size_t place,
                                Seconds start);
  void select(const Drawing& drawing, std::size_t index, bool anew);
  [[nodiscard]] bool stale(const Drawing& drawing, std::size_t slot, std::uint32_t site);
  [[nodiscard]] bool still_best(const Drawing& drawing, std::size_t index);
  void find_best_sites(Slot& slot, std::size_t index);
  [[nodiscard]] Seconds other_choice(std::size_t index);
  void choose(const Drawing& drawing);

  Heuristic heuristic_;
  std::uint32_t sites_;
  const TaskClass* like_;           ///< files, private inputs and output of all
  std::deque<std::uint32_t> rest_;  ///< classes that get the slot when the one that has it is empty
  std::vector<std::uint32_t> passed_over_;  ///< that would have the slot, but are impossible
  std::vector<Slot> slots_;
  std::size_t empty_ = 0;                ///< of the slots
  std::vector<double> works_;            ///< of the slots, ascending
  std::vector<std::uint32_t> versions_;  ///< of the sites, when the following was found out
  std::vector<Completion> best_;         ///< for each slot and site
  std::vector<Seconds> runner_up_;       ///< the same on the site's second-best host
  std::vector<std::uint32_t> runner_up_versions_;  ///< of the sites, when that was found out
  std::vector<Seconds> no_transfer_before_;  ///< for each site: see GanttChart::inputs_there()
  std::vector<Seconds> row_starts_;          ///< for each host: the start that its row is for
  std::vector<Seconds> rows_;                ///< for each host and slot: the end there
  BestEnds best_ends_;                       ///< to work with
  /// For each site: places of hosts that were among the best for some slots.
  std::vector<std::vector<std::uint32_t>> last_best_;
  std::vector<Seconds> returned_;  ///< to work with, for each slot
  bool possible_ = false;
  bool settled_ = true;
  Choice choice_;
};

}  // namespace gantry::schedule
