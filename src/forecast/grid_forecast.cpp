#include "forecast/grid_forecast.hpp"

#include <algorithm>

#include "forecast/run_time.hpp"

namespace gantry::forecast {

namespace {
/// What an observation weighs less with each later one.
constexpr double kFade = 0.6;
/// Of smaller files the most time is latency, and that somebody had to connect first.
constexpr double kLeastBytes = 256 << 10;
/// A way that looked slow because of a login would not be taken again, and never look better.
constexpr Duration kLongerThanALogin = std::chrono::seconds(2);
}  // namespace

void GridForecast::Ratio::observe(double more_seconds, double more_amount) {
  seconds = kFade * seconds + more_seconds;
  amount = kFade * amount + more_amount;
}

void GridForecast::ran(HostId host, double cost, Duration took) {
  if (took <= Duration{0}) return;
  hosts_[host].observe(seconds(took), usable_cost(cost));
}

void GridForecast::moved(SiteId from, SiteId to, double bytes, TimePoint sent, TimePoint arrived) {
  Link& link = links_[{from, to}];
  const TimePoint alone = std::max(sent, link.last_arrival);
  link.last_arrival = std::max(arrived, link.last_arrival);
  const Duration least = from == kHome ? Duration{0} : kLongerThanALogin;
  if (!(bytes >= kLeastBytes) || arrived <= alone + least) return;
  link.ratio.observe(seconds(arrived - alone), bytes);
}

std::optional<double> GridForecast::pace(HostId host) const {
  const auto known = hosts_.find(host);
  if (known == hosts_.end()) return std::nullopt;
  return known->second.seconds / known->second.amount;
}

std::optional<double> GridForecast::bandwidth(SiteId from, SiteId to) const {
  const auto known = links_.find({from, to});
  if (known == links_.end() || known->second.ratio.seconds <= 0) return std::nullopt;
  return known->second.ratio.amount / known->second.ratio.seconds;
}

}  // namespace gantry::forecast
