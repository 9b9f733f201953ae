#pragma once
/// What runs have taught of a program's run times, kept in the store for the next ones.

#include <string>

#include "engine/engine.hpp"
#include "forecast/run_time_model.hpp"
#include "model/sweep.hpp"
#include "store/store.hpp"

namespace gantry::driver {

struct KeptModel {
  forecast::RunTimeModel model{};  ///< of nothing when there is none
  std::string notice{};            ///< for a person: why what is there is not used
};

/// For a study with the same command and the same names of parameters, whatever their values. None
/// when the study says itself what its tasks cost.
[[nodiscard]] KeptModel kept_model(const store::Store& store, const Sweep& sweep);
/// Joins the open group. Nothing happens when nothing was learnt.
Result<> keep_model(store::Store& store, const Sweep& sweep, const engine::Engine& engine,
                    TimePoint now);

}  // namespace gantry::driver
