#pragma once
/// What runs have learnt about a program's tasks, kept in the store for later runs.

#include <string>
#include <vector>

#include "engine/engine.hpp"
#include "forecast/learned_memory.hpp"
#include "forecast/run_time_model.hpp"
#include "model/application.hpp"
#include "store/store.hpp"

namespace gantry::driver {

/// Models of a program's tasks. Each is empty if nothing is stored.
struct KeptModels {
  forecast::RunTimeModel times{};
  forecast::LearnedMemory memory{};
  forecast::RunTimeModel outputs{};
  std::vector<std::string> notices{};  ///< for a person: why a stored model is not used
};

/// For studies with the same command and parameter names, whatever the values. Leaves out what the
/// study declares itself: the cost of its tasks, or their memory.
[[nodiscard]] KeptModels kept_models(const store::Store& store, const Application& application);
/// Stores the models in the store's open group. Does nothing if nothing was learnt.
Result<> keep_models(store::Store& store, const Application& application,
                     const engine::RunView& run, TimePoint now);

}  // namespace gantry::driver
