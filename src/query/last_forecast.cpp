#include "query/last_forecast.hpp"

#include <algorithm>

#include "query/stored_run.hpp"

namespace gantry::query {
namespace {

/// What a gantry shows, or has shown until it was killed.
LastForecast shown_now(const std::filesystem::path& state_dir) {
  if (auto state = store::read_live(state_dir)) return {std::move(state), true};
  auto left = store::read_left_live(state_dir);
  if (left) {
    left->pid = 0;
    left->ends = left->ends_soonest = left->ends_latest = kNever;
    left->draining = "it was killed";
  }
  return {std::move(left)};
}

}  // namespace

Result<LastForecast> newest_forecast(const std::filesystem::path& state_dir) {
  if (LastForecast shown = shown_now(state_dir); shown.state) return shown;
  TRY_ASSIGN(const auto store, open_store(state_dir));
  TRY_ASSIGN(auto kept, store.learned(std::string(store::kForecastsKind)));
  std::ranges::sort(kept, std::ranges::greater{}, &store::Store::Learned::updated);
  for (const auto& each : kept)  // one may be damaged
    if (auto state = store::read_live_text(each.value)) return LastForecast{std::move(state)};
  return LastForecast{};
}

Result<LastForecast> forecast_of(const std::filesystem::path& state_dir,
                                 std::string_view selector) {
  TRY_ASSIGN(const StoredRun run, open_run(state_dir, selector));
  const auto id = run.record.id.value();
  if (LastForecast shown = shown_now(state_dir); shown.state && shown.state->run == id)
    return shown;
  TRY_ASSIGN(const auto kept,
             run.store.learned(std::string(store::kForecastsKind), std::to_string(id)));
  return LastForecast{kept ? store::read_live_text(kept->value) : std::nullopt};
}

}  // namespace gantry::query
