#include "simulate/wrong_clock.hpp"

#include <algorithm>
#include <limits>

namespace gantry::simulate {

WrongClock::WrongClock(double factor, double half_ahead) {
  // Corners at 0 and at 1/32, 1/16 ... 32 times half_ahead. Between two of them the error is that
  // of their geometric middle, t / (t + half_ahead) of the whole.
  double truly = 0;
  double shown = 0;
  double width = half_ahead / 32;
  for (std::size_t i = 0; i < kCorners; ++i) {
    const bool last = i + 1 == kCorners;
    const double middle = i == 0 ? width / 2 : truly * 1.414;
    const double part = last ? 1 : middle / (middle + half_ahead);
    corners_[i] = {truly, shown, 1 + (factor - 1) * part};
    shown += width * corners_[i].speed;
    truly += width;
    if (i > 0) width *= 2;
  }
}

double WrongClock::shown(double truly) const {
  if (truly <= 0) return truly;
  std::size_t i = 0;
  while (i + 1 < kCorners && corners_[i + 1].truly <= truly) ++i;
  const Corner& at = corners_[i];
  const double end =
      i + 1 < kCorners ? corners_[i + 1].shown : std::numeric_limits<double>::infinity();
  return std::min(at.shown + (truly - at.truly) * at.speed, end);
}

double WrongClock::truly(double shown) const {
  if (shown <= 0) return shown;
  std::size_t i = 0;
  while (i + 1 < kCorners && corners_[i + 1].shown <= shown) ++i;
  const Corner& at = corners_[i];
  const double end =
      i + 1 < kCorners ? corners_[i + 1].truly : std::numeric_limits<double>::infinity();
  return std::min(at.truly + (shown - at.shown) / at.speed, end);
}

double WrongClock::slowest() const {
  return std::ranges::min_element(corners_, {}, &Corner::speed)->speed;
}

}  // namespace gantry::simulate
