#pragma once
/// What was predicted for a sweep on a grid, as a table for a person or as JSON for a program.

#include <cstdint>
#include <string>
#include <vector>

#include "cli/context.hpp"

namespace gantry::cli {

struct Prediction {
  std::string scheduler;
  double makespan = 0;
  double bytes_moved = 0;
  double utilisation = 0;  ///< the part of all slots' time that computes what counts
  double wasted = 0;       ///< slots' time for attempts whose twin was first
};

struct PlanSummary {
  std::string sweep;
  std::size_t tasks = 0;
  std::size_t hosts = 0;
  std::size_t slots = 0;
  double bound = 0;               ///< no scheduler can be faster
  bool costs_in_seconds = true;   ///< else in units of one task
  bool costs_are_learnt = false;  ///< so that the bound is no more than an estimate
  std::vector<Prediction> predictions{};
  std::size_t best = 0;  ///< among them
};

void print_plan(Context& context, const PlanSummary& plan);
void print_plan_json(Context& context, const PlanSummary& plan);

}  // namespace gantry::cli
