#pragma once
/// Which of some numbered things is next, when each has one moment at most: changing a moment costs
/// less than putting it into a heap and taking it out again. A plain value.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "schedule/planning.hpp"

namespace gantry::schedule {

class Tournament {
 public:
  /// At first nothing happens ever.
  explicit Tournament(std::size_t things)
      : leaves_(std::bit_ceil(things + 1)), moments_(leaves_, kInfinite), winners_(2 * leaves_) {
    for (std::uint32_t i = 0; i < leaves_; ++i) winners_[leaves_ + i] = i;
    for (std::size_t node = leaves_ - 1; node > 0; --node) winners_[node] = winners_[2 * node];
  }

  /// The earliest; of several the one with the least number.
  [[nodiscard]] std::uint32_t next() const { return winners_[1]; }
  [[nodiscard]] Seconds moment(std::uint32_t thing) const { return moments_[thing]; }

  void set(std::uint32_t thing, Seconds moment) {
    moments_[thing] = moment;
    for (std::size_t node = (leaves_ + thing) / 2; node > 0; node /= 2) {
      // A place instead of a branch that nobody can foresee.
      const std::uint32_t* pair = &winners_[2 * node];
      winners_[node] = pair[moments_[pair[1]] < moments_[pair[0]] ? 1 : 0];
    }
  }

  /// Its moment has come. REQUIRES: it is set() before the next one is asked for; others may be,
  /// too.
  void forget(std::uint32_t thing) { moments_[thing] = kInfinite; }

 private:
  std::size_t leaves_;  ///< a power of two
  std::vector<Seconds> moments_;
  std::vector<std::uint32_t> winners_;  ///< the children of n are 2n and 2n + 1
};

}  // namespace gantry::schedule
