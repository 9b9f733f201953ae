#pragma once
/// What runs have taught of a program's tasks, kept in the store for the next ones.

#include <string>
#include <vector>

#include "engine/engine.hpp"
#include "forecast/learned_memory.hpp"
#include "forecast/run_time_model.hpp"
#include "model/sweep.hpp"
#include "store/store.hpp"

namespace gantry::driver {

/// Each is of nothing when there is none.
struct KeptModels {
  forecast::RunTimeModel times{};
  forecast::LearnedMemory memory{};
  forecast::RunTimeModel outputs{};
  std::vector<std::string> notices{};  ///< for a person: why what is there is not used
};

/// For a study with the same command and the same names of parameters, whatever their values. Not
/// of what the study says itself: what its tasks cost, how much memory they need.
[[nodiscard]] KeptModels kept_models(const store::Store& store, const Sweep& sweep);
/// The run times alone.
[[nodiscard]] KeptModels kept_times(const store::Store& store, const Sweep& sweep);
/// The memory alone; of nothing, too, when it cannot be read.
[[nodiscard]] forecast::LearnedMemory kept_memory(const store::Store& store, const Sweep& sweep);
/// Joins the open group. Nothing happens when nothing was learnt.
Result<> keep_models(store::Store& store, const Sweep& sweep, const engine::RunView& run,
                     TimePoint now);

}  // namespace gantry::driver
