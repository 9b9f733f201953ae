#include "simulate/etc/etc_heuristics.hpp"

#include <limits>
#include <vector>

namespace gantry::simulate {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::uint32_t kUnassigned = std::numeric_limits<std::uint32_t>::max();

/// Where a task would be done first, and second.
struct Choice {
  double end = kInfinity;
  double second_end = kInfinity;
  std::uint32_t machine = 0;
  std::uint32_t second_machine = kUnassigned;

  /// With a single machine every task would suffer without end.
  [[nodiscard]] double sufferage() const { return second_end - end; }
};

Choice choose(std::span<const double> times, const std::vector<double>& ready) {
  Choice choice;
  for (std::uint32_t machine = 0; machine < ready.size(); ++machine) {
    const double end = ready[machine] + times[machine];
    if (end < choice.end) {
      choice.second_end = choice.end;
      choice.second_machine = choice.machine;
      choice.end = end;
      choice.machine = machine;
    } else if (end < choice.second_end) {
      choice.second_end = end;
      choice.second_machine = machine;
    }
  }
  return choice;
}

/// The task with the highest comes next.
double urgency(EtcHeuristic heuristic, const Choice& choice) {
  switch (heuristic) {
    case EtcHeuristic::min_min:
      return -choice.end;
    case EtcHeuristic::max_min:
      return choice.end;
    case EtcHeuristic::sufferage:
    case EtcHeuristic::sufferage_passes:
      break;
  }
  return choice.sufferage();
}

/// Machines only become ready later, so a task's choice stands until one of its two machines is
/// given work: O(tasks²) in all where the definition's loops need O(tasks² machines).
EtcSchedule one_by_one(EtcHeuristic heuristic, const EtcMatrix& matrix) {
  struct Pending {
    std::uint32_t task = 0;
    Choice choice;
  };
  std::vector<double> ready(matrix.machines(), 0.0);
  std::vector<Pending> pending(matrix.tasks());
  for (std::uint32_t task = 0; task < pending.size(); ++task)
    pending[task] = {task, choose(matrix.row(task), ready)};
  EtcSchedule schedule(matrix.tasks());
  while (!pending.empty()) {
    std::size_t next = 0;
    for (std::size_t i = 1; i < pending.size(); ++i)
      if (urgency(heuristic, pending[i].choice) > urgency(heuristic, pending[next].choice))
        next = i;
    const auto [task, choice] = pending[next];
    schedule[task] = choice.machine;
    ready[choice.machine] = choice.end;
    // Keeps the order, which decides ties.
    pending.erase(pending.begin() + static_cast<std::ptrdiff_t>(next));
    for (Pending& other : pending)
      if (other.choice.machine == choice.machine || other.choice.second_machine == choice.machine)
        other.choice = choose(matrix.row(other.task), ready);
  }
  return schedule;
}

EtcSchedule in_passes(const EtcMatrix& matrix) {
  struct Winner {
    std::uint32_t task = kUnassigned;
    Choice choice;
  };
  std::vector<double> ready(matrix.machines(), 0.0);
  EtcSchedule schedule(matrix.tasks(), kUnassigned);
  for (std::size_t left = matrix.tasks(); left > 0;) {
    std::vector<Winner> winners(matrix.machines());
    for (std::uint32_t task = 0; task < schedule.size(); ++task) {
      if (schedule[task] != kUnassigned) continue;
      const Choice choice = choose(matrix.row(task), ready);
      Winner& winner = winners[choice.machine];
      if (winner.task == kUnassigned || choice.sufferage() > winner.choice.sufferage())
        winner = {task, choice};
    }
    for (const Winner& winner : winners) {
      if (winner.task == kUnassigned) continue;
      schedule[winner.task] = winner.choice.machine;
      ready[winner.choice.machine] = winner.choice.end;
      --left;
    }
  }
  return schedule;
}

}  // namespace

std::string_view heuristic_name(EtcHeuristic heuristic) {
  constexpr std::array<std::string_view, kEtcHeuristics.size()> kNames{
      "min-min", "max-min", "sufferage", "sufferage-passes"};
  return kNames[static_cast<std::size_t>(heuristic)];
}

EtcSchedule apply_heuristic(EtcHeuristic heuristic, const EtcMatrix& matrix) {
  if (heuristic == EtcHeuristic::sufferage_passes) return in_passes(matrix);
  return one_by_one(heuristic, matrix);
}

}  // namespace gantry::simulate
