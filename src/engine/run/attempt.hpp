#pragma once
/// What the engine remembers of attempts and hosts. Plain values, for its own sources only.

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "engine/engine.hpp"

namespace gantry::engine {

/// Shorter tasks are over before they were elsewhere.
inline constexpr Duration kWorthRecalling = std::chrono::seconds(1);

/// An attempt that was handed over and has not ended.
struct Outstanding {
  AttemptId attempt;
  HostId host;
  schedule::Load load = 0;
  TimePoint started = kNever;
  Duration expected{0};  ///< to take, when it started; 0 = nothing was known
  bool running = false;
  bool computed = false;          ///< it has left its host
  bool ending = false;            ///< it was told to end
  bool alone = false;             ///< it gets no twin
  std::optional<double> begun{};  ///< what its host had done when it started, if that is known
  GivenMemory memory{};
};

/// A task whose host dies under it again and again is given up.
inline constexpr std::uint8_t kLossLimit = 100;

/// Of one run.
using AttemptKey = std::pair<TaskId, AttemptId>;

/// A task that holds its place on a host until its files are there.
struct Staged {
  HostId host;
  SiteId site;
  schedule::Load load = 0;
};

/// Of ready tasks, that are looked at when something was learnt: an event must not take seconds.
inline constexpr std::size_t kSortedAnew = 20'000;

/// What a host has of a run and has not started.
struct HostQueue {
  std::uint32_t handed_over = 0;
  bool recalled = false;      ///< all of it
  TimePoint shared = kNever;  ///< when it was recalled for the sake of idle hosts
};

}  // namespace gantry::engine
