#pragma once
/// How long the rest of a run may take if tasks go on to take what they took so far: it is played
/// many times, with run times that were seen. Knows one kind of slots and no files: it tells
/// what chance does to an end. Pure: the same each time.

#include <cstdint>
#include <optional>
#include <vector>

namespace gantry::forecast {

/// In any unit of time.
struct RestOfRun {
  std::vector<double> seen{};     ///< run times, in any order
  std::vector<double> running{};  ///< how long what runs has taken so far
  std::vector<double> leaving{};  ///< the same on slots that get nothing more
  std::uint64_t waiting = 0;      ///< tasks that do not run yet
  std::uint64_t slots = 0;
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

}  // namespace gantry::forecast
