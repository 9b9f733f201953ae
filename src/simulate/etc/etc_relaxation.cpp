#include "simulate/etc/etc_relaxation.hpp"

#include <algorithm>
#include <cassert>

namespace gantry::simulate {

schedule::LoadBalance relax(std::span<const double> times, std::span<const double> loads,
                            const schedule::BalanceLimits& limits) {
  assert(!loads.empty() && times.size() % loads.size() == 0);
  schedule::LoadProgram program;
  program.loads.assign(loads.begin(), loads.end());
  program.uses.reserve(times.size());
  program.alternative_begin.reserve(times.size() + 1);
  for (std::size_t first = 0; first < times.size(); first += loads.size()) {
    for (std::uint32_t machine = 0; machine < loads.size(); ++machine) {
      program.add_use(machine, times[first + machine]);
      program.end_alternative();
    }
    program.end_item();
  }
  return schedule::balance(program, limits);
}

double etc_lower_bound(const EtcMatrix& matrix, const std::function<bool()>& stop) {
  const std::vector<double> loads(matrix.machines(), 0.0);
  double bound = relax(matrix.times(), loads, {.stop = stop}).bound;
  for (std::size_t task = 0; task < matrix.tasks(); ++task)
    bound = std::max(bound, *std::ranges::min_element(matrix.row(task)));
  return bound;
}

}  // namespace gantry::simulate
