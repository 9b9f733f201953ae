#pragma once
/// How long the rest of a run will take, and how sure that is. A plain value.

#include "base/time.hpp"

namespace gantry {

struct Eta {
  Duration expected{0};  ///< 0 = not known yet
  /// In four of five runs the rest takes at least so long, and at most so long.
  Duration soonest{0};
  Duration latest{0};
  friend bool operator==(const Eta&, const Eta&) = default;
};

}  // namespace gantry
