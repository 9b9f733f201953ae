#pragma once
/// How fast hosts compute and links carry, learnt from what ran and moved, and from how loaded
/// hosts are meanwhile; how long jobs wait in queues, and what a start costs. Values only, no
/// clock.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "base/time.hpp"
#include "forecast/availability.hpp"
#include "forecast/link_probe.hpp"
#include "forecast/queue_waits.hpp"
#include "forecast/rate.hpp"
#include "model/ids.hpp"

namespace gantry::forecast {

class GridForecast {
 public:
  GridForecast() : grid_(std::make_shared<Shared>()) {}
  /// What is learnt of the grid is learnt once for all runs; how long a cost of 1 takes on a host
  /// is each run's own.
  [[nodiscard]] GridForecast for_run() const {
    GridForecast other(*this);
    other.hosts_.clear();
    return other;
  }

  /// The host is up, and declared to be of this speed.
  void host_up(HostId host, double speed) { grid_->speeds[host] = speed; }
  void host_down(HostId host) { grid_->speeds.erase(host); }
  /// A task of this relative cost took so long on the host. What took no time says nothing. Returns
  /// the seconds that count; 0: none, it is absurd. `begun`: as work_done() was when it began, if
  /// that was known.
  double ran(HostId host, double cost, Duration took, TimePoint ended = {},
             std::optional<double> begun = {});
  /// The seconds that would count of an attempt that took so long, but is to teach nothing.
  [[nodiscard]] double spent(HostId host, Duration took, TimePoint ended,
                             std::optional<double> begun) const;
  /// Costs are others now: as if nothing had run yet. What has is told once more, by the seconds
  /// that count.
  void forget_paces() { hosts_.clear(); }
  bool ran_again(HostId host, double cost, double seconds, TimePoint ended);
  /// Tasks of the host got this share of their speed of late, until `at` by its clock; `heard` by
  /// ours.
  Verdict loaded(HostId host, double share, TimePoint at, TimePoint heard);
  /// It is that late: what hosts have not told for long counts less.
  void pass(TimePoint now) { grid_->now = now; }
  [[nodiscard]] TimePoint now() const { return grid_->now; }
  /// So many bytes, sent from home to the site. A link that carries one after the other had only
  /// what was sent first until that arrived. Small files say nothing, nor do those whose time was
  /// mostly that of a round trip, where that is known; of others it is taken off.
  void moved(SiteId site, double bytes, TimePoint sent, TimePoint arrived) {
    moved(kHome, site, bytes, sent, arrived);
  }
  /// The same from one site to another, which logs in first: what took a moment says nothing.
  void moved(SiteId from, SiteId to, double bytes, TimePoint sent, TimePoint arrived);
  /// A job of the site's batch system has come to run, so long after it was submitted.
  Verdict waited(SiteId site, double seconds, TimePoint at) {
    return grid_->queues[site].waited(seconds, at);
  }
  /// A message from home to the site and its answer took so long, while nothing else was under way.
  Verdict echoed(SiteId site, double seconds, TimePoint at);
  /// The same of a message of so many bytes, where one of a few took `trip`. What files have taught
  /// stays as it is: until the next one, the link is believed to be slower if it must be, and up to
  /// twice as fast. Where none has, probes alone tell.
  void probed(SiteId site, double bytes, double seconds, double trip, TimePoint at);
  /// A task of the site took so long besides its run time, though a slot was free for it. Ends of
  /// several hosts arrive in any order.
  Verdict launched(SiteId site, double seconds, TimePoint ended);

  /// Of a host that is up.
  [[nodiscard]] std::optional<double> declared_speed(HostId host) const;
  /// Seconds for a cost of 1, as loaded as the host is; nothing before the first observation.
  [[nodiscard]] std::optional<double> pace(HostId host) const;
  /// How fast the host is, of how fast it was when it first told its load; 1 before that.
  [[nodiscard]] double speed(HostId host) const;
  /// A clock of what tasks have done there, by the host's time; nothing while it has not told its
  /// load.
  [[nodiscard]] std::optional<double> work_done(HostId host, TimePoint at) const;
  /// How many seconds at the present pace what began then has done by now: more or less than have
  /// passed, if the load has changed.
  [[nodiscard]] double done_of(HostId host, TimePoint started, std::optional<double> begun,
                               TimePoint now) const;
  /// Seconds for a message from home to the site and its answer; nothing before the first
  /// observation.
  [[nodiscard]] std::optional<double> round_trip(SiteId site) const;
  [[nodiscard]] const Series* round_trips(SiteId site) const;
  /// Bytes a second, without the round trip where that is known; nothing before the first
  /// observation.
  [[nodiscard]] std::optional<double> bandwidth(SiteId site) const {
    return bandwidth(kHome, site);
  }
  [[nodiscard]] std::optional<double> bandwidth(SiteId from, SiteId to) const;
  /// Of a link of which nothing but this is believed: the nearest that may be.
  [[nodiscard]] double possible_bandwidth(SiteId site, double believed) const;
  /// Since the last file that told something.
  [[nodiscard]] LinkProbe link_probe(SiteId site) const;
  /// How often it was probed in all.
  [[nodiscard]] std::uint64_t probes(SiteId site) const;

  /// How it came to that, for people: of seconds for a cost of 1, and of seconds a byte. nullptr
  /// before the first observation.
  [[nodiscard]] const Series* paces(HostId host) const;
  [[nodiscard]] const Series* byte_times(SiteId site) const;
  /// Of the shares that its tasks get; nullptr while it has not told any.
  [[nodiscard]] const Availability* availability(HostId host) const;
  /// Seconds that a task takes besides its run time; nothing before the first observation.
  [[nodiscard]] std::optional<double> launch(SiteId site) const;
  [[nodiscard]] const Series* launches(SiteId site) const;
  /// nullptr before the first job that came.
  [[nodiscard]] const QueueWaits* queue(SiteId site) const;

 private:
  struct Link {
    Rate rate;
    TimePoint last_arrival{};
    bool by_files = false;  ///< the rate, or else by probes
    LinkProbe probe{};
    std::uint64_t probes = 0;
  };

  struct Shared {
    std::map<HostId, double> speeds{};  ///< as declared, of hosts that are up
    std::map<HostId, Availability> loads{};
    TimePoint now{};
    std::map<std::pair<SiteId, SiteId>, Link> links{};
    std::map<SiteId, QueueWaits> queues{};
    std::map<SiteId, Series> launches{};
    std::map<SiteId, Series> round_trips{};
  };

  std::map<HostId, Rate> hosts_;  ///< at the speed when they first told their load
  std::shared_ptr<Shared> grid_;
};

}  // namespace gantry::forecast
