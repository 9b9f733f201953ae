#pragma once
/// Where the forecasts of a run are found: live.json while it goes on or after it was killed, the
/// store after it ended.

#include <filesystem>
#include <optional>
#include <string_view>

#include "store/live_state.hpp"

namespace gantry::query {

struct LastForecast {
  std::optional<store::LiveState> state{};  ///< nothing: none is known
  bool goes_on = false;                     ///< a gantry drives the run now
};

/// Of the run that goes on, or else of the latest one that has learnt something.
Result<LastForecast> newest_forecast(const std::filesystem::path& state_dir);

/// `selector` is "last" or a run's number.
Result<LastForecast> forecast_of(const std::filesystem::path& state_dir, std::string_view selector);

}  // namespace gantry::query
