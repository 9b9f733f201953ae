#include "forecast/eta_history.hpp"

#include <algorithm>
#include <cmath>

namespace gantry::forecast {

namespace {

// Found on simulated grids (`gantry simulate eta`, seeds 5 and 6).
/// What is expected to change while the share doubles, before anything has: 3.5 %.
constexpr double kUsualChange = 0.035;
/// Of how many doublings that speaks.
constexpr double kUsualDoublings = 1;
/// What a change weighs less after a doubling.
constexpr double kChangeFade = 0.5;
/// Ends are put off more often than brought forward.
constexpr double kSooner = 0.7;
constexpr double kLater = 1.5;
/// Beyond that an interval tells nothing.
constexpr double kMostChange = 1;
/// Nor does a look that came out so wrong: before it nothing was known.
constexpr double kMostMove = 1;
/// The first task of a million says as much as nothing.
constexpr double kLeastShare = 1e-3;

}  // namespace

void EtaHistory::look(double share, Duration in_all, double by_chance) {
  const double total = seconds(in_all);
  if (!(share > last_share_) || !(total > 0) || std::isnan(by_chance)) return;
  if (last_share_ > 0) {
    const double by = std::log2(share / last_share_);
    const double fade = std::pow(kChangeFade, by);
    const double change = std::clamp(std::log(total / last_in_all_), -kMostMove, kMostMove);
    const double explained = last_by_chance_ * last_by_chance_;
    changes_ = changes_ * fade + std::max(change * change - explained, 0.0);
    doublings_ = doublings_ * fade + by;
  }
  last_share_ = share;
  last_in_all_ = total;
  last_by_chance_ = by_chance;
  next_ = std::max(share * std::sqrt(2.0), next_);
}

Eta EtaHistory::spread(double share, Duration elapsed, Duration rest) const {
  const double known = std::clamp(share, kLeastShare, 1.0);
  const double a_doubling =
      (changes_ + kUsualDoublings * kUsualChange * kUsualChange) / (doublings_ + kUsualDoublings);
  const double change = std::min(std::sqrt(a_doubling * std::log2(1 / known)), kMostChange);
  const double passed = std::max(seconds(elapsed), 0.0);
  const double in_all = passed + seconds(rest);
  const double soonest = in_all * std::exp(-kSooner * change) - passed;
  const double latest = in_all * std::exp(kLater * change) - passed;
  // What has to be done takes some time, however sure the end is.
  constexpr double kAtLeast = 0.1;
  return {rest, from_seconds(std::clamp(soonest, kAtLeast * seconds(rest), seconds(rest))),
          from_seconds(std::max(latest, seconds(rest)))};
}

}  // namespace gantry::forecast
