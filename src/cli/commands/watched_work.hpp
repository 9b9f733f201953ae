#pragma once
/// Long computations of a command: they run on threads of their own, while this one tells a person
/// how far they are and listens for Ctrl-C. The first one lets what is being computed end; the
/// second one ends the program at once.

#include <cstddef>
#include <functional>
#include <stop_token>
#include <string>

#include "base/result.hpp"
#include "cli/context.hpp"

namespace gantry::cli {

struct WatchedWork {
  std::string name;       ///< shown with the progress
  std::size_t steps = 0;  ///< to do
  bool keeps = true;      ///< what is done when it is stopped; else the first Ctrl-C ends all
  /// Called on another thread. Calls `step` from any thread after each step, and returns early when
  /// it is asked to stop.
  std::function<Result<>(std::stop_token stop, const std::function<void()>& step)> run;
};

/// True when it was told to stop.
Result<bool> watch_work(Context& context, const WatchedWork& work);

}  // namespace gantry::cli
