#pragma once
/// A clock that shows now as it is and runs the more wrongly the further it is ahead: how estimates
/// get worse with look-ahead, and still never say that what begins later, or is more, is done
/// earlier. A plain value.

#include <array>

namespace gantry::simulate {

class WrongClock {
 public:
  /// Far ahead it runs `factor` times as fast as time does; `half_ahead` seconds from now, half of
  /// that error is there. REQUIRES: both positive.
  WrongClock(double factor, double half_ahead);

  /// What it shows at a true time, in seconds from now. Never falls. The past is known.
  [[nodiscard]] double shown(double truly) const;
  /// The true time at which it shows this, to the last bits.
  [[nodiscard]] double truly(double shown) const;
  /// The speed at which it runs at least.
  [[nodiscard]] double slowest() const;

 private:
  /// From here on it runs at this speed: a broken line with a few corners.
  struct Corner {
    double truly = 0;
    double shown = 0;
    double speed = 1;
  };
  static constexpr std::size_t kCorners = 12;
  std::array<Corner, kCorners> corners_;
};

}  // namespace gantry::simulate
