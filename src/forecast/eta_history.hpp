#pragma once
/// How sure a run's end is, from how much it was put off or brought forward so far: what was
/// expected when a hundredth of the tasks were done, when a seventieth, a fiftieth, and so on. A
/// run that kept its promises will keep them. Values only, no clock.

#include "model/eta.hpp"

namespace gantry::forecast {

class EtaHistory {
 public:
  /// Is it time for the next look, when this share of the tasks (0 to 1) is done?
  [[nodiscard]] bool is_due(double share) const { return share >= next_ && share < 1; }
  /// When this share was done, the run was expected to take so long from its beginning to its end.
  /// `by_chance`: what that may move by anyway (the standard deviation of its logarithm), as run
  /// times differ. That much is not counted when it does.
  void look(double share, Duration in_all, double by_chance = 0);

  /// Four of five runs end in the interval, which is longer to the side of those that end later.
  [[nodiscard]] Eta spread(double share, Duration elapsed, Duration rest) const;

 private:
  double next_ = 0.01;
  double last_share_ = 0;  ///< 0 = none yet
  double last_in_all_ = 0;
  double last_by_chance_ = 0;
  // Squares of logarithms of changes, and over how many doublings of the share; older ones fade.
  double changes_ = 0;
  double doublings_ = 0;
};

}  // namespace gantry::forecast
