#pragma once
/// Where a task of a run that goes on is now, or what it waits for, in words, as far as the gantry
/// that drives the run shows it. Pure.

#include <optional>
#include <string>
#include <vector>

#include "base/time.hpp"
#include "model/ids.hpp"
#include "store/live_state.hpp"

namespace gantry::cli {

struct TaskPlace {
  bool running = false;
  std::string host{};  ///< that it was given to; empty: none
  std::string site{};
  std::vector<std::string> lines{};  ///< one fact each, not wrapped
};

/// For a task that has not ended. `cost`: relative, as hosts' paces are.
TaskPlace place_of(const store::LiveState& live, TaskId task, double cost, TimePoint now);

}  // namespace gantry::cli
