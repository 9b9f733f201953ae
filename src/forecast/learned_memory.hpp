#pragma once
/// How much memory tasks are given, learnt from what others took: by their parameters, with a
/// margin for as much as earlier guesses were wrong. Values only, no I/O; bounded memory. One
/// thread.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "forecast/run_time_model.hpp"

namespace gantry::forecast {

class LearnedMemory {
 public:
  /// Before so many were seen, nothing is said.
  static constexpr std::uint64_t kEnough = 8;
  /// Nobody is given less: libraries and the like take that much, with any parameters.
  static constexpr std::uint64_t kLeast = std::uint64_t{64} << 20U;

  /// A task that succeeded took so much at the most. What need() says changes only with refresh().
  void observe(std::span<const Feature> task, std::uint64_t bytes);
  /// One died with this limit: it takes more, and others like it may.
  void died(std::span<const Feature> task, std::uint64_t limit);
  /// So much more was seen that need() should say something else.
  [[nodiscard]] bool is_due() const { return seen() >= kEnough && seen() >= next_; }
  void refresh();

  /// For such a task, in coarse steps. Nothing before enough was seen.
  [[nodiscard]] std::optional<std::uint64_t> need(std::span<const Feature> task) const;

  /// Of all runs.
  [[nodiscard]] std::uint64_t seen() const { return model_.observations(); }
  /// Since it was made or read.
  [[nodiscard]] std::uint64_t seen_here() const { return seen_here_; }
  /// What was seen is of tasks with as many parameters: it can be used for such a one.
  [[nodiscard]] bool knows(std::span<const Feature> task) const {
    return seen() > 0 && model_.takes(task.size());
  }
  /// What need() is from.
  [[nodiscard]] const RunTimeModel& used() const { return used_; }
  /// By which the high end of a prediction is multiplied, as long as nobody took so much.
  [[nodiscard]] double margin() const { return margin_; }

  /// To keep it in a database: JSON. What was read counts for no more tasks than it keeps, and is
  /// used at once.
  [[nodiscard]] std::string to_text() const;
  static Result<LearnedMemory> from_text(std::string_view text);

 private:
  /// So many of the last guesses are looked at.
  static constexpr std::size_t kGuesses = 64;
  [[nodiscard]] double margin_by_guesses() const;
  void add_guess(double part);

  RunTimeModel model_;
  std::vector<double> guesses_;  ///< what was taken, as part of the high end: a ring
  std::size_t next_guess_ = 0;
  std::uint64_t next_ = kEnough;
  std::uint64_t seen_here_ = 0;
  std::uint64_t wanted_ = 0;  ///< by the one that died with most

  // As of the last refresh().
  RunTimeModel used_;
  double margin_ = 0;
  double most_ = 0;  ///< that anybody took or wanted
};

/// Rounded up: four steps for each doubling, in whole MiB. Tasks with about the same need are one
/// class.
[[nodiscard]] std::uint64_t coarse_memory(std::uint64_t bytes);

/// For a task that died of memory, being given so much and seen to use so much.
[[nodiscard]] std::uint64_t more_memory(std::uint64_t given, std::uint64_t used);

}  // namespace gantry::forecast
