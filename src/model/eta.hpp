#pragma once
/// How long the rest of a run will take, and how sure that is. A plain value.

#include <algorithm>

#include "base/time.hpp"

namespace gantry {

struct Eta {
  Duration expected{0};  ///< 0 = not known yet
  /// The ends of an 80% interval.
  Duration soonest{0};
  Duration latest{0};
  friend bool operator==(const Eta&, const Eta&) = default;
};

/// The forecast for two runs together: the later one.
[[nodiscard]] inline Eta latest(const Eta& a, const Eta& b) {
  return {std::max(a.expected, b.expected), std::max(a.soonest, b.soonest),
          std::max(a.latest, b.latest)};
}

}  // namespace gantry
