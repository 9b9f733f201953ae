#include "driver/kept_model.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gantry::driver {

namespace {
constexpr const char* kTimesKind = "run times";
constexpr const char* kMemoryKind = "memory";
constexpr const char* kOutputsKind = "outputs";
/// Of each kind; of 512 tasks each, at the most.
constexpr std::uint32_t kMostModels = 100;

template <class Model>
void read_kept(const store::Store& store, const Application& application, const char* kind,
               Model& model, std::vector<std::string>& notices) {
  const auto not_used = [&](const Error& why) {
    notices.push_back(
        fmt::format("what earlier runs have learnt is not used ({}): {}", kind, why.message));
  };
  const auto stored = store.learned(kind, application.program_digest().hex());
  if (!stored) return not_used(stored.error());
  if (!*stored) return;
  auto read = Model::from_text((*stored)->value);
  if (!read) return not_used(read.error());
  model = std::move(*read);
}

/// Whether tasks of some node do.
bool send_outputs_home(const Application& application) {
  return std::ranges::any_of(application.batches(), [&](const Batch& batch) {
    if (batch.count == 0) return false;
    const Task first = application.task(batch.first);
    return first.outputs.size() > first.staying.size();
  });
}
}  // namespace

KeptModels kept_models(const store::Store& store, const Application& application) {
  KeptModels kept;
  if (!application.has_cost()) read_kept(store, application, kTimesKind, kept.times, kept.notices);
  if (application.learns_memory())
    read_kept(store, application, kMemoryKind, kept.memory, kept.notices);
  if (send_outputs_home(application))
    read_kept(store, application, kOutputsKind, kept.outputs, kept.notices);
  return kept;
}

Result<> keep_models(store::Store& store, const Application& application,
                     const engine::RunView& run, TimePoint now) {
  const std::string name = application.program_digest().hex();
  if (const auto times = run.book().times().learned().to_keep())
    TRY(store.learn(kTimesKind, {name, now, times->to_text()}, kMostModels));
  if (const auto& memory = run.book().memory().learned(); memory.seen_here() > 0)
    TRY(store.learn(kMemoryKind, {name, now, memory.to_text()}, kMostModels));
  if (const auto& outputs = run.book().outputs(); outputs.seen_here() > 0)
    TRY(store.learn(kOutputsKind, {name, now, outputs.model().to_text()}, kMostModels));
  return {};
}

}  // namespace gantry::driver
