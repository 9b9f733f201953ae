#pragma once
/// Run times drawn by chance from those that were seen, for plays of the rest of a run. Dice are a
/// play's own and follow from its number: pure.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/chance.hpp"

namespace gantry::forecast {

/// Numbers that follow from the play's.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : state_(mixed(seed)) {}
  /// In [0, 1).
  double roll() { return unit_of(mixed(++state_)); }
  /// REQUIRES: count > 0.
  std::size_t below(std::size_t count) {
    return std::min(static_cast<std::size_t>(roll() * static_cast<double>(count)), count - 1);
  }
  /// With a mean of 0 and a standard deviation of 1.
  double normal();

 private:
  std::uint64_t state_;
};

/// By how much the longest are longer than the shortest of them, on average: Hill's estimate of a
/// tail. REQUIRES: ascending, not empty.
[[nodiscard]] double excess_of(const std::vector<double>& seen);

/// Run times of one play. Each is one of those that were seen, and then counts as seen once more:
/// so plays differ by as much as is not known of the mean when few were seen. Of n tasks that come
/// in any order the next one is the longest with a chance of 1 in n + 1; how long it is then was
/// not seen.
class Urn {
 public:
  /// REQUIRES: `seen` ascends and is not empty; `dice` outlive the urn. `room`: draws to come.
  Urn(const std::vector<double>& seen, double excess, std::size_t room, Dice& dice);

  double draw() { return draw_from(0, longest_); }
  /// Longer than that. REQUIRES: not longer than in the draw before, and no other draw() yet.
  double draw_beyond(double lasted);

 private:
  double draw_from(std::ptrdiff_t first, double longest);

  std::vector<double> times_;  ///< those that were seen, ascending, then those that were drawn
  std::ptrdiff_t seen_;
  double longest_;
  double excess_ = 0;
  Dice& dice_;
};

}  // namespace gantry::forecast
