#include "engine/run/run.hpp"

#include <utility>

namespace gantry::engine {

namespace {

/// The workload keeps what it knows but for what earlier runs have taught.
forecast::KnownTasks known_tasks(Workload& workload) {
  return {.count = workload.count,
          .cost = workload.cost,
          .features = workload.features,
          .learns_memory = workload.learns_memory,
          .learns_outputs = !workload.output_bytes,
          .times = std::exchange(workload.known_times, {}),
          .memory = std::exchange(workload.known_memory, {}),
          .outputs = std::exchange(workload.known_outputs, {})};
}

}  // namespace

Run::Run(RunId run, Grid& where, Workload work, Policy rules,
         std::unique_ptr<schedule::Scheduler> scheduler, double importance)
    : run_id(run),
      grid(where),
      workload(std::move(work)),
      policy(rules),
      weight(importance),
      strategy(std::move(scheduler)),
      appetite(strategy->appetite()),
      tasks(workload.count),
      ready([this](const TaskNeeds& needs) { return grid.fits_somewhere(needs); }),
      book(known_tasks(workload), grid.seen.for_run(), policy.learn_for) {
  if (workload.count > 0) typical = workload.resources_of(TaskId(1));
}

}  // namespace gantry::engine
