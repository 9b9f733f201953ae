#pragma once
/// How long the rest of a run may take if tasks go on to take what they took so far: it is played
/// many times, with run times that were seen, on hosts that are as fast as they seem to be. Knows
/// no files: it tells what chance does to an end. Pure: the same each time.

#include <cstdint>
#include <optional>
#include <vector>

#include "forecast/host_paces.hpp"

namespace gantry::forecast {

struct PlayedHost {
  HostPace pace{};
  std::uint64_t slots = 1;        ///< 0: it gets nothing more
  std::vector<double> running{};  ///< how long what runs has taken so far
  /// Tasks that it was given and has not started. It goes on to be given one for each that ends, as
  /// long as others wait.
  std::uint64_t given = 0;
};

/// In any unit of time.
struct RestOfRun {
  std::vector<double> seen{};  ///< run times where the pace is 1, in any order
  std::vector<PlayedHost> hosts{};
  std::uint64_t waiting = 0;  ///< tasks that no host was given
};

struct PlayedRest {
  double soonest = 0;
  double middle = 0;  ///< half of the plays took longer
  double latest = 0;
};

/// More tasks are not played: over so many chance adds up to little.
inline constexpr std::uint64_t kMostPlayed = 200;

/// Nothing when nothing was seen, nothing is left, or too much.
[[nodiscard]] std::optional<PlayedRest> play_rest(RestOfRun rest);

/// If each task took `mean` where the pace is 1, and all hosts were done at the same time.
[[nodiscard]] double even_rest(const RestOfRun& rest, double mean);

}  // namespace gantry::forecast
