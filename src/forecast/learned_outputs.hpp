#pragma once
/// How many bytes of output a task sends home, learnt from what others sent: by their parameters.
/// Values only, no I/O; bounded memory. One thread.

#include <cstdint>
#include <optional>
#include <span>

#include "forecast/run_time_model.hpp"

namespace gantry::forecast {

class LearnedOutputs {
 public:
  /// Before so many were seen, nothing is said.
  static constexpr std::uint64_t kEnough = 8;
  /// Less takes no time worth planning, and tasks that differ by less are one class.
  static constexpr double kLittle = 1 << 20;

  LearnedOutputs() = default;
  /// `kept` is what earlier runs have taught.
  explicit LearnedOutputs(RunTimeModel kept);

  /// A task that succeeded sent so much. What expected() says changes only with refresh().
  void observe(std::span<const Feature> task, std::uint64_t bytes);
  /// So much more was seen that expected() should say something else.
  [[nodiscard]] bool is_due() const { return seen() >= kEnough && seen() >= next_; }
  void refresh();

  /// For such a task, in coarse steps; 0 of little, and before enough was seen.
  [[nodiscard]] double expected(std::span<const Feature> task) const;

  [[nodiscard]] std::uint64_t seen() const { return model_.observations(); }
  /// In this run.
  [[nodiscard]] std::uint64_t seen_here() const { return seen_here_; }
  /// Of all that was seen, for later runs; and of what expected() says.
  [[nodiscard]] const RunTimeModel& model() const { return model_; }
  [[nodiscard]] const RunTimeModel& used() const { return used_; }

 private:
  RunTimeModel model_;
  std::uint64_t next_ = kEnough;
  std::uint64_t seen_here_ = 0;
  RunTimeModel used_;     ///< as of the last refresh()
  bool matters_ = false;  ///< some task sends more than little
};

}  // namespace gantry::forecast
