#include "forecast/grid_forecast.hpp"

#include <algorithm>

#include "forecast/run_time.hpp"

namespace gantry::forecast {

namespace {
/// Of smaller files the most time is latency, and that somebody had to connect first.
constexpr double kLeastBytes = 256 << 10;
/// A way that looked slow because of a login would not be taken again, and never look better.
constexpr Duration kLongerThanALogin = std::chrono::seconds(2);
}  // namespace

double GridForecast::ran(HostId host, double cost, Duration took, TimePoint ended,
                         std::optional<double> begun) {
  if (took <= Duration{0}) return 0;
  double spent = seconds(took);
  if (const Availability* load = availability(host); load != nullptr)
    spent = load->work_in(spent, ended, begun ? *begun : load->worked(ended - took));
  return ran_again(host, cost, spent, ended) ? spent : 0;
}

bool GridForecast::ran_again(HostId host, double cost, double seconds, TimePoint ended) {
  return seconds > 0 && hosts_[host].observe(ended, seconds, usable_cost(cost));
}

Verdict GridForecast::loaded(HostId host, double share, TimePoint at, TimePoint heard) {
  return loads_[host].tell(share, at, heard);
}

const Availability* GridForecast::availability(HostId host) const {
  const auto load = loads_.find(host);
  return load != loads_.end() && load->second.known() ? &load->second : nullptr;
}

double GridForecast::speed(HostId host) const {
  const Availability* load = availability(host);
  return load != nullptr ? load->speed(now_) : 1;
}

std::optional<double> GridForecast::work_done(HostId host, TimePoint at) const {
  const Availability* load = availability(host);
  return load != nullptr ? std::optional(load->worked(at)) : std::nullopt;
}

double GridForecast::done_of(HostId host, TimePoint started, std::optional<double> begun,
                             TimePoint now) const {
  const Availability* load = availability(host);
  if (load == nullptr) return seconds(now - started);
  const double work = load->worked_by(now) - (begun ? *begun : load->worked(started));
  return std::clamp(work, 0.0, load->most_work(started, now)) / load->speed(now_);
}

void GridForecast::moved(SiteId from, SiteId to, double bytes, TimePoint sent, TimePoint arrived) {
  Link& link = links_[{from, to}];
  const TimePoint alone = std::max(sent, link.last_arrival);
  link.last_arrival = std::max(arrived, link.last_arrival);
  const Duration least = from == kHome ? Duration{0} : kLongerThanALogin;
  if (!(bytes >= kLeastBytes) || arrived <= alone + least) return;
  link.rate.observe(arrived, seconds(arrived - alone), bytes);
}

std::optional<double> GridForecast::pace(HostId host) const {
  const auto known = hosts_.find(host);
  if (known == hosts_.end()) return std::nullopt;
  const Availability* load = availability(host);
  return load != nullptr ? known->second.expected() / load->speed(now_) : known->second.expected();
}

std::optional<double> GridForecast::bandwidth(SiteId from, SiteId to) const {
  const auto known = links_.find({from, to});
  if (known == links_.end() || !known->second.rate.known()) return std::nullopt;
  return 1 / known->second.rate.expected();
}

const Series* GridForecast::paces(HostId host) const {
  const auto known = hosts_.find(host);
  return known != hosts_.end() ? &known->second.series() : nullptr;
}

const Series* GridForecast::byte_times(SiteId site) const {
  const auto known = links_.find({kHome, site});
  return known != links_.end() && known->second.rate.known() ? &known->second.rate.series()
                                                             : nullptr;
}

}  // namespace gantry::forecast
