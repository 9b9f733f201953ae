#pragma once
/// How the results of each of the papers' experiments are drawn. Pure functions.

#include <string_view>
#include <vector>

#include "simulate/chart_svg.hpp"
#include "simulate/experiment_points.hpp"

namespace gantry::simulate {

/// Lines over file sizes or errors of estimates where an experiment varies these; bars otherwise.
[[nodiscard]] Chart experiment_chart(std::string_view experiment,
                                     const std::vector<ExperimentPoint>& points);

}  // namespace gantry::simulate
