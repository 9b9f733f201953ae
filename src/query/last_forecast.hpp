#pragma once
/// Finds the forecasts of a run: in live.json while it goes on or after a kill, in the store after
/// it ended.

#include <filesystem>
#include <optional>
#include <string_view>

#include "store/live_state.hpp"

namespace gantry::query {

struct LastForecast {
  std::optional<store::LiveState> state{};  ///< nothing if none are known
  bool goes_on = false;                     ///< a gantry drives the run now
};

/// Forecasts of the run in progress, or else of the latest run that has learnt something.
Result<LastForecast> newest_forecast(const std::filesystem::path& state_dir);

/// `selector` is "last" or a run's number.
Result<LastForecast> forecast_of(const std::filesystem::path& state_dir, std::string_view selector);

}  // namespace gantry::query
