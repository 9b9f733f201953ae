#include "forecast/grid_forecast.hpp"

#include <algorithm>
#include <utility>

#include "forecast/run_time.hpp"

namespace gantry::forecast {

namespace {
/// Of smaller files the most time is latency, and that somebody had to connect first.
constexpr double kLeastBytes = 256 << 10;
/// A way that looked slow because of a login would not be taken again, and never look better.
constexpr Duration kLongerThanALogin = std::chrono::seconds(2);
/// An agent that is farther away has been taken for lost; one that says so has dallied.
constexpr SeriesKind kRoundTrips{.highest = 60, .together = true};
/// What is left of a transfer's time without the round trip says something if it is no less than
/// this part of it.
constexpr double kAboveNoise = 0.25;
/// A shaper lets the first megabyte of a silent link through at once: probes do not make a link
/// much faster than files have found it.
constexpr double kMostRise = 2;
/// Where each task is a job, it waits in the queue of a cluster.
constexpr SeriesKind kLaunches{.highest = 30 * 24 * 3600.0, .together = true};

const Series* series_of(const std::map<SiteId, Series>& all, SiteId site) {
  const auto known = all.find(site);
  return known != all.end() && known->second.observations() > 0 ? &known->second : nullptr;
}

std::optional<double> next_of(const Series* series) {
  const auto next = series != nullptr ? series->forecast() : std::nullopt;
  return next ? std::optional(next->value) : std::nullopt;
}

}  // namespace

double GridForecast::ran(HostId host, double cost, Duration took, TimePoint ended,
                         std::optional<double> begun) {
  const double counts = spent(host, took, ended, begun);
  return ran_again(host, cost, counts, ended) ? counts : 0;
}

double GridForecast::spent(HostId host, Duration took, TimePoint ended,
                           std::optional<double> begun) const {
  if (took <= Duration{0}) return 0;
  const Availability* load = availability(host);
  if (load == nullptr) return seconds(took);
  return load->work_in(seconds(took), ended, begun ? *begun : load->worked(ended - took));
}

bool GridForecast::ran_again(HostId host, double cost, double seconds, TimePoint ended) {
  return seconds > 0 && hosts_[host].observe(ended, seconds, usable_cost(cost));
}

Verdict GridForecast::loaded(HostId host, double share, TimePoint at, TimePoint heard) {
  return grid_->loads[host].tell(share, at, heard);
}

std::optional<double> GridForecast::declared_speed(HostId host) const {
  const auto speed = grid_->speeds.find(host);
  return speed != grid_->speeds.end() ? std::optional(speed->second) : std::nullopt;
}

const Availability* GridForecast::availability(HostId host) const {
  const auto load = grid_->loads.find(host);
  return load != grid_->loads.end() && load->second.known() ? &load->second : nullptr;
}

double GridForecast::speed(HostId host) const {
  const Availability* load = availability(host);
  return load != nullptr ? load->speed(grid_->now) : 1;
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
  return std::clamp(work, 0.0, load->most_work(started, now)) / load->speed(grid_->now);
}

void GridForecast::moved(SiteId from, SiteId to, double bytes, TimePoint sent, TimePoint arrived) {
  Link& link = grid_->links[{from, to}];
  // Its first byte comes half a round trip after it was sent, and that it is there is heard another
  // half later than that.
  const double trip = from == kHome ? round_trip(to).value_or(0) : 0;
  const TimePoint alone = std::max(sent + from_seconds(trip), link.last_arrival);
  link.last_arrival = std::max(arrived, link.last_arrival);
  const Duration least = from == kHome ? Duration{0} : kLongerThanALogin;
  if (!(bytes >= kLeastBytes) || arrived <= alone + least) return;
  const double took = seconds(arrived - alone);
  if (took < kAboveNoise * trip) return;
  if (!std::exchange(link.by_files, true)) link.rate = {};
  link.rate.observe(arrived, took, bytes);
  link.probe.forget();
}

void GridForecast::probed(SiteId site, double bytes, double seconds, double trip, TimePoint at) {
  Link& link = grid_->links[{kHome, site}];
  ++link.probes;
  link.probe.answered(bytes, seconds, trip);
  if (link.by_files) return;
  if (!link.rate.known()) {
    if (link.probe.is_tight()) link.rate.observe(at, bytes / link.probe.middle(), bytes);
    return;
  }
  const double believed = 1 / link.rate.expected();
  const double possible = link.probe.within(believed);
  if (possible != believed) link.rate.observe(at, bytes / possible, bytes);
}

std::optional<double> GridForecast::pace(HostId host) const {
  const auto known = hosts_.find(host);
  if (known == hosts_.end()) return std::nullopt;
  const Availability* load = availability(host);
  return load != nullptr ? known->second.expected() / load->speed(grid_->now)
                         : known->second.expected();
}

std::optional<double> GridForecast::bandwidth(SiteId from, SiteId to) const {
  const auto known = grid_->links.find({from, to});
  if (known == grid_->links.end() || !known->second.rate.known()) return std::nullopt;
  const double learnt = 1 / known->second.rate.expected();
  const double possible = known->second.probe.within(learnt);
  return known->second.by_files ? std::min(possible, kMostRise * learnt) : possible;
}

double GridForecast::possible_bandwidth(SiteId site, double believed) const {
  return link_probe(site).within(believed);
}

LinkProbe GridForecast::link_probe(SiteId site) const {
  const auto known = grid_->links.find({kHome, site});
  return known != grid_->links.end() ? known->second.probe : LinkProbe{};
}

std::uint64_t GridForecast::probes(SiteId site) const {
  const auto known = grid_->links.find({kHome, site});
  return known != grid_->links.end() ? known->second.probes : 0;
}

const Series* GridForecast::paces(HostId host) const {
  const auto known = hosts_.find(host);
  return known != hosts_.end() ? &known->second.series() : nullptr;
}

Verdict GridForecast::launched(SiteId site, double seconds, TimePoint ended) {
  Series& series = grid_->launches.try_emplace(site, kLaunches).first->second;
  return series.observe(std::max(ended, series.last_time()), seconds);
}

Verdict GridForecast::echoed(SiteId site, double seconds, TimePoint at) {
  return grid_->round_trips.try_emplace(site, kRoundTrips).first->second.observe(at, seconds);
}

std::optional<double> GridForecast::launch(SiteId site) const {
  return next_of(launches(site));
}

const Series* GridForecast::launches(SiteId site) const {
  return series_of(grid_->launches, site);
}

std::optional<double> GridForecast::round_trip(SiteId site) const {
  return next_of(round_trips(site));
}

const Series* GridForecast::round_trips(SiteId site) const {
  return series_of(grid_->round_trips, site);
}

const QueueWaits* GridForecast::queue(SiteId site) const {
  const auto known = grid_->queues.find(site);
  return known != grid_->queues.end() && !known->second.recent().empty() ? &known->second : nullptr;
}

const Series* GridForecast::byte_times(SiteId site) const {
  const auto known = grid_->links.find({kHome, site});
  return known != grid_->links.end() && known->second.rate.known() ? &known->second.rate.series()
                                                                   : nullptr;
}

}  // namespace gantry::forecast
