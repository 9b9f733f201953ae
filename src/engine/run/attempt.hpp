#pragma once
/// What the engine remembers of attempts and hosts. Plain values, for its own sources only.

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "engine/engine.hpp"
#include "forecast/host_paces.hpp"

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

/// What counts for a host's pace.
struct Ran {
  TaskId task;
  double seconds = 0;
  TimePoint started;
  TimePoint ended;
  double wasted = 0;  ///< by its attempts that died before; counts for the ETA only
};

/// Run times that were seen on a host, for a cost of 1. Its speed outlives it.
struct HostSample {
  double speed = 1;
  forecast::RunTimeSample times{};
};

/// What is known from run times that were seen, for a cost of 1.
struct LikelyTimes {
  std::vector<forecast::HostPace> hosts{};  ///< as loaded as they are now; in the order of `shown`
  std::vector<double> seen{};               ///< as if on a usual host of speed 1
  double mean = 0;                          ///< of those
};

/// What has to be done yet, and who does it.
struct Remaining {
  double cost = 0;
  std::uint64_t tasks = 0;
  double longest = 0;  ///< seconds that are left of a task which was given to a host
  std::uint64_t slots = 0;
  double speed = 0;  ///< of all of them: cost in a second
  double share = 1;  ///< the part of them that works for this run

  void add_slots(std::uint32_t count, double pace) {
    slots += count;
    speed += count / pace;
  }
  /// Seconds until all are done at the same time; nothing if nobody works.
  [[nodiscard]] std::optional<double> even(double efficiency) const {
    const double ours = static_cast<double>(slots) * share;
    const auto open = static_cast<double>(tasks);
    const double used = ours > open ? open / ours : 1;
    const double whole = speed * share * used * efficiency;
    return whole > 0 ? std::optional(cost / whole) : std::nullopt;
  }
};

/// What a host has of a run and has not started.
struct HostQueue {
  std::uint32_t handed_over = 0;
  bool recalled = false;      ///< all of it
  TimePoint shared = kNever;  ///< when it was recalled for the sake of idle hosts
};

}  // namespace gantry::engine
