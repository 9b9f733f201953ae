#include "engine/run/run.hpp"

#include <utility>

namespace gantry::engine {

namespace {

/// Where a person says what tasks cost, that counts.
forecast::LearnedCosts learned_of(const Workload& workload) {
  if (workload.cost) return {workload.count, {}, {}};
  return {workload.count, workload.features, workload.known_times};
}

forecast::LearnedMemory memory_of(const Workload& workload) {
  if (!workload.learns_memory || workload.count == 0) return {};
  const auto& known = workload.known_memory;
  return known.knows(workload.features(TaskId(1))) ? known : forecast::LearnedMemory{};
}

forecast::LearnedOutputs outputs_of(const Workload& workload) {
  const bool learns = workload.features && !workload.output_bytes && workload.count > 0;
  if (!learns || !workload.known_outputs.takes(workload.features(TaskId(1)).size())) return {};
  return forecast::LearnedOutputs(workload.known_outputs);
}

}  // namespace

forecast::CostProfile profile_of(const Workload& workload) {
  if (!workload.cost) return {workload.count, {}};
  return {workload.count, [&](std::uint32_t index) { return workload.cost(TaskId(index + 1)); }};
}

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
      seen(grid.seen.for_run()),
      costs(profile_of(workload)),
      learned(learned_of(workload)),
      memory(workload.features, memory_of(workload)),
      learned_outputs(outputs_of(workload)) {
  if (workload.count > 0) typical = workload.resources_of(TaskId(1));
  if (learned.known()) use_new_costs();
}

}  // namespace gantry::engine
