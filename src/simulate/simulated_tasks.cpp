#include "simulate/simulated_tasks.hpp"

namespace gantry::simulate {

engine::Workload workload_of(const SimulatedTasks& application) {
  const auto task = [&application](TaskId id) -> const SimulatedTasks::Task& {
    return application.tasks[id.value() - 1];
  };
  engine::Workload workload;
  workload.count = static_cast<std::uint32_t>(application.tasks.size());
  workload.file_bytes = application.file_bytes;
  workload.cost = [task](TaskId id) { return task(id).cost; };
  workload.files = [task](TaskId id) { return task(id).files; };
  workload.private_bytes = [task](TaskId id) { return task(id).private_bytes; };
  workload.output_bytes = [task](TaskId id) { return task(id).output_bytes; };
  return workload;
}

}  // namespace gantry::simulate
