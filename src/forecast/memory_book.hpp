#pragma once
/// How much of a host's memory the tasks of a run get, where that is learnt: as much as others like
/// them took, and after a death of memory more than they had. Part of the Bookkeeper. A value; one
/// thread.

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

/// What an attempt was given of its host's memory, where that is learnt, and why.
struct GivenMemory {
  std::uint64_t bytes = 0;        ///< 0 = it is not learnt, or not known
  std::uint64_t learnt_from = 0;  ///< so many tasks; 0 = a slot's share of the smallest host
  std::uint64_t died_with = 0;    ///< an attempt before it; 0 = none
};

class MemoryBook {
 public:
  using FeaturesOf = std::function<Features(TaskId)>;

  /// `known` is what earlier runs have taught. Without features nothing may be asked or told.
  MemoryBook(FeaturesOf features, LearnedMemory known)
      : features_(std::move(features)), learned_(std::move(known)) {}

  /// An attempt that was given so much died of memory, and was seen to use so much. True: the
  /// first one of the task since it last succeeded.
  bool died(TaskId task, std::uint64_t given, std::uint64_t used);
  /// A death that says something of other tasks, too.
  void learn_death(TaskId task, std::uint64_t given) { learned_.died(features_(task), given); }
  void succeeded(TaskId task) { died_.erase(task); }
  /// A task that succeeded used so much at the most.
  void learn_use(TaskId task, std::uint64_t bytes) { learned_.observe(features_(task), bytes); }
  /// So much more was learnt that wanted() now says something else.
  bool refresh();

  /// For the next attempt of the task. `share` is what it gets while nothing is known of it.
  [[nodiscard]] std::uint64_t wanted(TaskId task, std::uint64_t share) const;
  /// What its attempts that died of memory had at the most; nothing if none did since it last
  /// succeeded.
  [[nodiscard]] std::optional<std::uint64_t> died_with(TaskId task) const;
  /// Why an attempt that begins now gets so much.
  [[nodiscard]] GivenMemory given(TaskId task, std::uint64_t bytes) const;
  [[nodiscard]] const LearnedMemory& learned() const { return learned_; }

  /// Of tasks that have not succeeded since, ascending.
  [[nodiscard]] std::vector<MemoryDeath> deaths() const;
  void restore(const MemoryDeath& death) { died_[death.task] = {death.given, death.wanted}; }

 private:
  struct Died {
    std::uint64_t given = 0;
    std::uint64_t wanted = 0;  ///< by its next attempt
  };

  FeaturesOf features_;
  LearnedMemory learned_;
  std::map<TaskId, Died> died_;
};

}  // namespace gantry::forecast
