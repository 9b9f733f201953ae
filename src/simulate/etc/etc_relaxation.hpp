#pragma once
/// The makespan that independent tasks would have if each could be cut into parts for different
/// machines: a linear program, and with it a lower bound on every schedule. Pure functions.

#include <functional>
#include <span>

#include "schedule/gantt/load_program.hpp"
#include "simulate/etc/etc_matrix.hpp"

namespace gantry::simulate {

/// `times` task by task, `loads` what the machines have to do already. A part for each time.
/// REQUIRES: finite, not negative; a machine at least; times.size() a multiple of loads.size().
schedule::LoadBalance relax(std::span<const double> times, std::span<const double> loads,
                            const schedule::BalanceLimits& limits);

/// A lower bound on the makespan: that of the relaxation, or of the longest task. Stopped early, it
/// is a weaker one.
double etc_lower_bound(const EtcMatrix& matrix, const std::function<bool()>& stop = {});

}  // namespace gantry::simulate
