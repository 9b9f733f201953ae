#pragma once
/// An experiment with schedulers in simulation: points (what is varied), repetitions of each, and
/// the schedulers that are compared on the same grids and applications. Trials are independent:
/// they run on all cores, in any order, and give the same numbers in each.

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "schedule/gantt/gantt_strategy.hpp"
#include "schedule/gantt/makespan_bound.hpp"
#include "simulate/quality.hpp"
#include "simulate/simulated_tasks.hpp"
#include "simulate/simulation.hpp"

namespace gantry::simulate {

/// What all schedulers of one repetition are given.
struct Trial {
  VirtualGrid grid;
  SimulatedTasks application;
  schedule::Seconds interval = schedule::kInfinite;  ///< between scheduling events
  QualityOptions quality{};
  schedule::GanttChoices choices{};
  std::uint64_t tie_seed = 0;  ///< another one decides ties otherwise
};

struct Experiment {
  std::string name;
  std::vector<std::string> points;  ///< labels; no comma
  std::uint32_t repetitions = 1;    ///< of each point
  std::vector<std::string> schedulers;
  /// Called from several threads.
  std::function<Trial(std::size_t point, std::uint32_t repetition)> trial;
};

/// One repetition of one point: all schedulers.
struct TrialOutcome {
  std::size_t point = 0;
  std::uint32_t repetition = 0;
  double compute_bound = 0;
  double data_bound = 0;
  std::vector<double> makespans{};  ///< in the order of the schedulers
  std::vector<double> bytes_moved{};
};

struct ExperimentOptions {
  std::uint32_t threads = 0;  ///< 0: one a core
  /// Those that are known already, by point and repetition, are left out.
  std::function<bool(std::size_t point, std::uint32_t repetition)> is_known{};
  /// Called from one thread at a time, in the order in which trials end.
  std::function<void(const TrialOutcome&)> ended{};
  std::stop_token stop{};
};

/// Fails with the first trial that cannot be simulated.
[[nodiscard]] Result<void> run_experiment(const Experiment& experiment,
                                          const ExperimentOptions& options);

/// When all tasks of the trial can be done at the earliest, whoever plans.
[[nodiscard]] schedule::MakespanBounds bounds_of(const Trial& trial);

}  // namespace gantry::simulate
