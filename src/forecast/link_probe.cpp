#include "forecast/link_probe.hpp"

#include <algorithm>
#include <cmath>

namespace gantry::forecast {

namespace {

using namespace std::chrono_literals;

constexpr double kFirstBytes = 64 << 10;
constexpr double kFewestBytes = 4 << 10;
constexpr double kGrowth = 4;
/// Whatever is to be sent after a probe waits for so long.
constexpr double kWorthSeconds = 0.2;
/// Of the time between two.
constexpr double kSmallPart = 0.05;
/// A round trip may take longer or shorter by this part, programs by this time, and all else by
/// this part.
constexpr double kJitter = 0.25;
constexpr double kProgramSeconds = 0.01;
constexpr double kNoise = 0.05;
/// What a sender sends before it waits for the first answer, by RFC 6928.
constexpr double kFirstWindow = 14'000;
/// Bounds so far apart tell how fast a link is.
constexpr double kTight = 2;
/// Whoever answers later has dallied.
constexpr double kLongestProbe = 3600;
constexpr Duration kProbeSoon = 10s;
constexpr Duration kProbeLater = 60s;

/// Seconds for so many bytes, beyond a round trip, over a connection that begins slowly: it sends
/// twice as much with each round trip until the link has no pauses any more. Falls as the
/// bandwidth rises.
double carry_time(double bytes, double bandwidth, double trip) {
  double time = 0;
  for (double window = kFirstWindow; window < bytes && window < bandwidth * trip; window *= 2) {
    time += trip;
    bytes -= window;
  }
  return time + bytes / bandwidth;
}

/// The highest bandwidth with which it takes so long; infinite if pauses alone may.
double highest(double bytes, double seconds, double trip) {
  constexpr double kAny = std::numeric_limits<double>::infinity();
  if (seconds <= 0 || carry_time(bytes, kAny, trip) >= seconds) return kAny;
  double low = bytes / seconds;
  double high = low;
  for (int i = 0; carry_time(bytes, high, trip) >= seconds; ++i) {
    if (i == 64) return kAny;
    low = high;
    high *= 2;
  }
  for (int i = 0; i < 30; ++i) {
    const double middle = (low + high) / 2;
    (carry_time(bytes, middle, trip) >= seconds ? low : high) = middle;
  }
  return high;
}

bool are_close(const LinkProbe::Bounds& bounds) {
  return bounds.high <= kTight * bounds.low;
}

bool includes(const LinkProbe::Bounds& bounds, double bandwidth) {
  return bounds.low <= bandwidth && bandwidth <= bounds.high;
}

}  // namespace

void LinkProbe::answered(double bytes, double seconds, double trip) {
  if (!(bytes > 0 && bytes <= kMostBytes)) return;
  if (!(seconds > 0 && seconds <= kLongestProbe && trip >= 0 && trip <= kLongestProbe)) return;
  const double beyond = std::max(seconds - trip, 0.0);
  const double slack = kJitter * trip + kProgramSeconds + kNoise * beyond;
  lost_ = false;
  before_ = last_;
  last_ = {bytes, beyond + slack, {bytes / (beyond + slack), highest(bytes, beyond - slack, trip)}};
}

LinkProbe::Bounds LinkProbe::bounds() const {
  if (before_.bytes == 0) return {};
  return {std::min(last_.bounds.low, before_.bounds.low),
          std::max(last_.bounds.high, before_.bounds.high)};
}

double LinkProbe::within(double bandwidth) const {
  const Bounds possible = bounds();
  return std::clamp(bandwidth, possible.low, possible.high);
}

bool LinkProbe::is_tight() const {
  return are_close(bounds());
}

double LinkProbe::middle() const {
  const Bounds possible = bounds();
  return std::sqrt(possible.low * possible.high);
}

std::uint64_t LinkProbe::next_bytes(std::optional<double> believed) const {
  if (lost_) return static_cast<std::uint64_t>(kFewestBytes);
  double bytes = kFirstBytes;
  if (last_.bytes > 0)
    bytes = std::min(kGrowth * last_.bytes, kWorthSeconds * last_.bounds.low);
  else if (believed)
    bytes = std::min(bytes, kWorthSeconds * *believed);
  return static_cast<std::uint64_t>(
      std::clamp(bytes, kFewestBytes, static_cast<double>(kMostBytes)));
}

Duration LinkProbe::pause(std::optional<double> believed) const {
  const bool grows = static_cast<double>(next_bytes(believed)) >= 2 * last_.bytes;
  const bool fits = !believed || includes(last_.bounds, *believed);
  const bool wants_second = before_.bytes == 0 || (are_close(last_.bounds) && !is_tight());
  const bool done = fits && !wants_second && (is_tight() || !grows);
  return std::max(done ? kProbeLater : kProbeSoon, from_seconds(last_.took / kSmallPart));
}

}  // namespace gantry::forecast
