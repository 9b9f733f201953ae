#include "simulate/etc/etc_matrix.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>

namespace gantry::simulate {

std::optional<std::string_view> etc_time_problem(double time) {
  if (std::isnan(time)) return "a time must be a number";
  if (time < 0) return "a time must not be negative";
  if (time > kMaxEtcTime) return "a time must not be larger than 1e15";
  return std::nullopt;
}

std::optional<std::string> EtcMatrix::size_problem(std::size_t tasks, std::size_t machines) {
  if (tasks == 0 || machines == 0)
    return fmt::format("{} tasks on {} machines: at least one of each is needed", tasks, machines);
  if (machines > kMaxEtcMachines || tasks > kMaxEtcTimes / machines)
    return fmt::format(
        "{} tasks on {} machines are too many: at most {} machines and {} times are read", tasks,
        machines, kMaxEtcMachines, kMaxEtcTimes);
  return std::nullopt;
}

Result<EtcMatrix> EtcMatrix::make(std::size_t tasks, std::size_t machines,
                                  std::vector<double> times) {
  if (auto problem = size_problem(tasks, machines))
    return fail(ErrorCode::usage, std::move(*problem));
  if (times.size() != tasks * machines) {
    return fail(ErrorCode::usage, fmt::format("{} tasks on {} machines have {} times, not {}",
                                              tasks, machines, tasks * machines, times.size()));
  }
  for (const double time : times) {
    if (const auto problem = etc_time_problem(time))
      return fail(ErrorCode::usage, std::string(*problem));
  }
  return EtcMatrix(machines, std::move(times));
}

std::vector<double> machine_loads(const EtcMatrix& matrix, const EtcSchedule& schedule) {
  assert(schedule.size() == matrix.tasks());
  std::vector<double> loads(matrix.machines(), 0.0);
  for (std::size_t task = 0; task < schedule.size(); ++task)
    loads[schedule[task]] += matrix.at(task, schedule[task]);
  return loads;
}

double makespan(const EtcMatrix& matrix, const EtcSchedule& schedule) {
  const auto loads = machine_loads(matrix, schedule);
  return *std::max_element(loads.begin(), loads.end());
}

}  // namespace gantry::simulate
