#pragma once
/// The makespan that independent tasks would have if each could be cut into parts for different
/// machines: a linear program, and with it a lower bound on every schedule. Pure functions.

#include <functional>
#include <span>
#include <vector>

#include "model/etc_matrix.hpp"

namespace gantry::schedule {

struct EtcRelaxation {
  double bound = 0;            ///< no schedule is better, however exactly this was solved
  std::vector<double> prices;  ///< of a unit of each machine's time; they sum up to about 1
  std::vector<double> parts;   ///< task by task: how much of it each machine gets
};

struct RelaxationLimits {
  double gap = 1e-12;                 ///< relative distance from the optimum that is good enough
  double enough = kMaxEtcTime * 1e9;  ///< a bound that is that large is good enough
  std::function<bool()> stop{};       ///< asked now and then; true: what there is is good enough
};

/// `times` task by task, `loads` what the machines have to do already.
/// REQUIRES: finite, not negative; a machine at least; times.size() a multiple of loads.size().
EtcRelaxation relax(std::span<const double> times, std::span<const double> loads,
                    const RelaxationLimits& limits);

/// A lower bound on the makespan: that of the relaxation, or of the longest task. Stopped early, it
/// is a weaker one.
double etc_lower_bound(const EtcMatrix& matrix, const std::function<bool()>& stop = {});

}  // namespace gantry::schedule
