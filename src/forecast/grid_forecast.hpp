#pragma once
/// How fast hosts compute and links carry, learnt from what ran and moved, and from how loaded
/// hosts are meanwhile. Values only, no clock.

#include <map>
#include <optional>
#include <utility>

#include "base/time.hpp"
#include "forecast/availability.hpp"
#include "forecast/rate.hpp"
#include "model/ids.hpp"

namespace gantry::forecast {

class GridForecast {
 public:
  /// A task of this relative cost took so long on the host. What took no time says nothing. Returns
  /// the seconds that count; 0: none, it is absurd. `begun`: as work_done() was when it began, if
  /// that was known.
  double ran(HostId host, double cost, Duration took, TimePoint ended = {},
             std::optional<double> begun = {});
  /// Costs are others now: as if nothing had run yet. What has is told once more, by the seconds
  /// that count.
  void forget_paces() { hosts_.clear(); }
  bool ran_again(HostId host, double cost, double seconds, TimePoint ended);
  /// Tasks of the host got this share of their speed of late, until `at` by its clock; `heard` by
  /// ours.
  Verdict loaded(HostId host, double share, TimePoint at, TimePoint heard);
  /// It is that late: what hosts have not told for long counts less.
  void pass(TimePoint now) { now_ = now; }
  [[nodiscard]] TimePoint now() const { return now_; }
  /// So many bytes, sent from home to the site. A link that carries one after the other had only
  /// what was sent first until that arrived. Small files say nothing.
  void moved(SiteId site, double bytes, TimePoint sent, TimePoint arrived) {
    moved(kHome, site, bytes, sent, arrived);
  }
  /// The same from one site to another, which logs in first: what took a moment says nothing.
  void moved(SiteId from, SiteId to, double bytes, TimePoint sent, TimePoint arrived);

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
  /// Bytes a second, latency included; nothing before the first observation.
  [[nodiscard]] std::optional<double> bandwidth(SiteId site) const {
    return bandwidth(kHome, site);
  }
  [[nodiscard]] std::optional<double> bandwidth(SiteId from, SiteId to) const;

  /// How it came to that, for people: of seconds for a cost of 1, and of seconds a byte. nullptr
  /// before the first observation.
  [[nodiscard]] const Series* paces(HostId host) const;
  [[nodiscard]] const Series* byte_times(SiteId site) const;
  /// Of the shares that its tasks get; nullptr while it has not told any.
  [[nodiscard]] const Availability* availability(HostId host) const;

 private:
  struct Link {
    Rate rate;
    TimePoint last_arrival{};
  };

  std::map<HostId, Rate> hosts_;  ///< at the speed when they first told their load
  std::map<HostId, Availability> loads_;
  TimePoint now_{};
  std::map<std::pair<SiteId, SiteId>, Link> links_;
};

}  // namespace gantry::forecast
