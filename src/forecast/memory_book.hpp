#pragma once
/// How much memory a run's tasks are given, if that is learnt: as much as similar tasks used, and
/// more after an attempt ran out of memory. Part of the Bookkeeper. A value; one thread.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "forecast/learned_memory.hpp"
#include "model/ids.hpp"
#include "model/run_snapshot.hpp"

namespace gantry::forecast {

/// How much memory an attempt was given, if that is learnt, and why.
struct GivenMemory {
  std::uint64_t bytes = 0;        ///< 0 = not learnt, or not known
  std::uint64_t learnt_from = 0;  ///< tasks; 0 = a slot's share of the smallest host
  std::uint64_t died_with = 0;    ///< bytes that an earlier attempt ran out of; 0 = none did
};

class MemoryBook {
 public:
  using FeaturesOf = std::function<Features(TaskId)>;

  /// `known` was learnt in earlier runs. Without features, call nothing that takes a task.
  MemoryBook(FeaturesOf features, LearnedMemory known)
      : features_(std::move(features)), learned_(std::move(known)) {}

  /// An attempt ran out of memory: it was given `given` bytes and seen to use `used`. True if it is
  /// the task's first since it last succeeded.
  bool died(TaskId task, std::uint64_t given, std::uint64_t used);
  /// Learns from such an attempt for other tasks too.
  void learn_death(TaskId task, std::uint64_t given) { learned_.died(features_(task), given); }
  void succeeded(TaskId task) { died_.erase(task); }
  /// A successful task used at most this much.
  void learn_use(TaskId task, std::uint64_t bytes) { learned_.observe(features_(task), bytes); }
  /// Takes in what was learnt. True if wanted() may have changed.
  bool refresh();

  /// Memory for the task's next attempt; `share` while nothing is known about it.
  [[nodiscard]] std::uint64_t wanted(TaskId task, std::uint64_t share) const;
  /// The most memory that an attempt had and ran out of; nothing if none did since the task last
  /// succeeded.
  [[nodiscard]] std::optional<std::uint64_t> died_with(TaskId task) const;
  /// What an attempt that begins now with this much memory is given, and why.
  [[nodiscard]] GivenMemory given(TaskId task, std::uint64_t bytes) const;
  [[nodiscard]] const LearnedMemory& learned() const { return learned_; }

  /// Tasks that ran out of memory and have not succeeded since, ascending.
  [[nodiscard]] std::vector<MemoryDeath> deaths() const;
  void restore(const MemoryDeath& death) { died_[death.task] = {death.given, death.wanted}; }

 private:
  struct Died {
    std::uint64_t given = 0;
    std::uint64_t wanted = 0;  ///< memory for its next attempt
  };

  FeaturesOf features_;
  LearnedMemory learned_;
  std::map<TaskId, Died> died_;
};

}  // namespace gantry::forecast
