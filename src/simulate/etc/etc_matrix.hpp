#pragma once
/// Expected time to compute: how long each of some independent tasks takes on each of some
/// machines, and which task runs where. The classic static scheduling problem, R||Cmax. Plain
/// values.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace gantry::simulate {

inline constexpr std::size_t kMaxEtcMachines = 1024;
inline constexpr std::size_t kMaxEtcTimes = std::size_t{1} << 22U;
/// Larger ones are a mistake, and sums of smaller ones are far from infinity.
inline constexpr double kMaxEtcTime = 1e15;

/// Why a number cannot be a time to compute: "a time must not be negative".
std::optional<std::string_view> etc_time_problem(double time);

class EtcMatrix {
 public:
  /// Why a matrix cannot have this size: none of something, or too much.
  static std::optional<std::string> size_problem(std::size_t tasks, std::size_t machines);
  /// `times` task by task. Fails when there are no tasks, too many times or machines, not tasks x
  /// machines of them, or one that is no time.
  static Result<EtcMatrix> make(std::size_t tasks, std::size_t machines, std::vector<double> times);

  [[nodiscard]] std::size_t tasks() const { return times_.size() / machines_; }
  [[nodiscard]] std::size_t machines() const { return machines_; }
  [[nodiscard]] double at(std::size_t task, std::size_t machine) const {
    return times_[task * machines_ + machine];
  }
  /// The task's time on each machine.
  [[nodiscard]] std::span<const double> row(std::size_t task) const {
    return std::span(times_).subspan(task * machines_, machines_);
  }
  [[nodiscard]] std::span<const double> times() const { return times_; }

 private:
  EtcMatrix(std::size_t machines, std::vector<double> times)
      : machines_(machines), times_(std::move(times)) {}

  std::size_t machines_;
  std::vector<double> times_;
};

/// The machine of each task.
using EtcSchedule = std::vector<std::uint32_t>;

/// How long each machine is busy. REQUIRES: a machine of the matrix for each of its tasks.
std::vector<double> machine_loads(const EtcMatrix& matrix, const EtcSchedule& schedule);
/// When the last machine is done.
double makespan(const EtcMatrix& matrix, const EtcSchedule& schedule);

}  // namespace gantry::simulate
