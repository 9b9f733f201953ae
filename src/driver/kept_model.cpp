#include "driver/kept_model.hpp"

namespace gantry::driver {

namespace {
constexpr const char* kModelKind = "run times";
/// Of 512 tasks each, at the most.
constexpr std::uint32_t kMostModels = 100;
}  // namespace

KeptModel kept_model(const store::Store& store, const Sweep& sweep) {
  if (sweep.has_cost()) return {};
  const auto stored = store.learned(kModelKind, sweep.program_digest().hex());
  if (!stored) return {{}, "what earlier runs have taught is not used: " + stored.error().message};
  if (!*stored) return {};
  auto model = forecast::RunTimeModel::from_text((*stored)->value);
  if (!model) return {{}, "what earlier runs have taught is not used: " + model.error().message};
  return {std::move(*model), {}};
}

Result<> keep_model(store::Store& store, const Sweep& sweep, const engine::Engine& engine,
                    TimePoint now) {
  const auto model = engine.learned().to_keep();
  if (!model) return {};
  return store.learn(kModelKind, {sweep.program_digest().hex(), now, model->to_text()},
                     kMostModels);
}

}  // namespace gantry::driver
