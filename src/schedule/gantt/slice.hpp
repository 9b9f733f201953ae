#pragma once
/// Classes that differ in nothing but their work, and what sched() knows of them at each site. It
/// may be old, but is never too late: completions only get later, until a file of the slice is sent
/// to the site. Of a slice that is settled what is known of the best sites is exact. Owned by
/// sched().

#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "schedule/gantt/best_hosts.hpp"
#include "schedule/gantt/drawing.hpp"
#include "schedule/gantt/heuristic.hpp"
#include "schedule/planning.hpp"

namespace gantry::schedule {

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

  /// `classes` as class_slices() gives them. `shared`: best hosts for these works and others, for
  /// the time when files do not matter any more; may be none.
  Slice(const Drawing& drawing, std::vector<std::uint32_t> classes, BestHosts* shared);

  /// What the heuristic would choose of this slice; nullptr if nothing can be complete anywhere.
  /// Until the slice is settled the truth may be worse, but not better.
  [[nodiscard]] const Choice* choice() const { return possible_ ? &choice_ : nullptr; }
  [[nodiscard]] bool settled() const { return settled_; }
  void settle(const Drawing& drawing);
  [[nodiscard]] bool reads_any_of(std::span<const std::uint32_t> files) const;

  /// No task of the class waits any more. REQUIRES: it was the choice; update() comes next.
  void remove(const Drawing& drawing, std::uint32_t task_class);
  /// Something was assigned at the site; `sent`: it had a file of this slice sent there.
  void update(const Drawing& drawing, std::uint32_t site, bool sent);

 private:
  /// Where what is known of the slots at a site comes from.
  struct AtSite {
    std::uint32_t version = 0;       ///< of the site, when it was found out
    bool is_shared = false;          ///< in the shared best hosts
    Seconds no_transfer_before = 0;  ///< see GanttChart::inputs_there()
    Seconds there = 0;               ///< not before then are the inputs
  };

  [[nodiscard]] bool compares_sites() const { return heuristic_ >= Heuristic::sufferage; }
  void find_in_shared();
  void drop_empty_slots();
  void give_slot_to_next(const Drawing& drawing);
  void reconsider_passed_over(const Drawing& drawing);
  void forget_sites(const Drawing& drawing);
  void refresh(const Drawing& drawing, std::uint32_t site);
  void select(const Drawing& drawing);
  void compare_sites();
  [[nodiscard]] bool refresh_what_matters(const Drawing& drawing);
  /// If it gets later there, can what is chosen change?
  [[nodiscard]] bool matters(std::uint32_t site) const;
  [[nodiscard]] Completion completion(std::size_t slot, std::uint32_t site) const;
  [[nodiscard]] std::uint32_t first_site(std::size_t slot) const;
  void choose(const Drawing& drawing);
  [[nodiscard]] Choice choice_of(const Drawing& drawing, std::size_t slot) const;

  Heuristic heuristic_;
  const TaskClass* like_;  ///< files, private inputs and output of all
  BestHosts* shared_;
  std::deque<std::uint32_t> rest_;  ///< classes that get the slot when the one that has it is empty
  std::vector<std::uint32_t> passed_over_;  ///< that would have the slot, but are impossible

  /// Slots: the classes among which the heuristic chooses. All, but for min-min only the one with
  /// least work and for max-min the one with most.
  std::vector<std::uint32_t> slots_;
  std::vector<double> empty_;  ///< by slot: 1 if no task of it waits any more
  std::size_t empty_count_ = 0;
  std::vector<std::uint32_t> in_shared_;  ///< by slot: its work there
  BestHosts own_;
  std::vector<AtSite> sites_;
  std::vector<Seconds> returned_;   ///< by site and slot: completions on the best hosts
  std::vector<Seconds> runner_up_;  ///< and on the second-best ones, for sufferage
  std::vector<Seconds> first_;      ///< by slot: the best completion
  std::vector<Seconds> other_;      ///< by slot: without the best host (sufferage) or site
  std::vector<double> suffers_;     ///< by slot: less is more; infinite if it cannot be chosen
  bool possible_ = false;
  bool settled_ = true;
  Choice choice_;
};

}  // namespace gantry::schedule
