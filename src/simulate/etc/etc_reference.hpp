#pragma once
/// For tests: the heuristics as the literal nested loops of their definitions, and the optimum by
/// trying everything. Slow and obvious.

#include <algorithm>
#include <limits>

#include "simulate/etc/etc_heuristics.hpp"

namespace gantry::simulate {

/// Repeats: for each task that is left, the machine that ends it first; then the task that the
/// heuristic prefers.
inline EtcSchedule reference_heuristic(EtcHeuristic heuristic, const EtcMatrix& matrix) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  std::vector<double> ready(matrix.machines(), 0.0);
  std::vector<bool> placed(matrix.tasks(), false);
  EtcSchedule schedule(matrix.tasks(), 0);
  for (std::size_t step = 0; step < matrix.tasks(); ++step) {
    std::size_t best_task = matrix.tasks();
    std::size_t best_machine = 0;
    double best_value = 0;
    for (std::size_t task = 0; task < matrix.tasks(); ++task) {
      if (placed[task]) continue;
      std::size_t machine = 0;
      for (std::size_t m = 1; m < matrix.machines(); ++m)
        if (ready[m] + matrix.at(task, m) < ready[machine] + matrix.at(task, machine)) machine = m;
      const double first = ready[machine] + matrix.at(task, machine);
      double second = kInfinity;
      for (std::size_t m = 0; m < matrix.machines(); ++m)
        if (m != machine) second = std::min(second, ready[m] + matrix.at(task, m));
      const double value = heuristic == EtcHeuristic::min_min   ? -first
                           : heuristic == EtcHeuristic::max_min ? first
                                                                : second - first;
      if (best_task == matrix.tasks() || value > best_value) {
        best_task = task;
        best_machine = machine;
        best_value = value;
      }
    }
    placed[best_task] = true;
    schedule[best_task] = static_cast<std::uint32_t>(best_machine);
    ready[best_machine] += matrix.at(best_task, best_machine);
  }
  return schedule;
}

/// The least makespan of all machines^tasks schedules.
inline double brute_force_makespan(const EtcMatrix& matrix) {
  double best = std::numeric_limits<double>::infinity();
  EtcSchedule schedule(matrix.tasks(), 0);
  for (;;) {
    best = std::min(best, makespan(matrix, schedule));
    std::size_t task = 0;
    while (task < schedule.size() && ++schedule[task] == matrix.machines()) schedule[task++] = 0;
    if (task == schedule.size()) return best;
  }
}

}  // namespace gantry::simulate
