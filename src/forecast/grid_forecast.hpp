#pragma once
/// How fast hosts compute and links carry, learnt from what ran and moved. Values only, no clock.

#include <map>
#include <optional>
#include <utility>

#include "base/time.hpp"
#include "forecast/rate.hpp"
#include "model/ids.hpp"

namespace gantry::forecast {

class GridForecast {
 public:
  /// A task of this relative cost took so long on the host. What took no time says nothing. Returns
  /// the seconds that count.
  double ran(HostId host, double cost, Duration took, TimePoint ended = {});
  /// Costs are others now: as if nothing had run yet. What has is told once more, by the seconds
  /// that count.
  void forget_paces() { hosts_.clear(); }
  void ran_again(HostId host, double cost, double seconds, TimePoint ended);
  /// So many bytes, sent from home to the site. A link that carries one after the other had only
  /// what was sent first until that arrived. Small files say nothing.
  void moved(SiteId site, double bytes, TimePoint sent, TimePoint arrived) {
    moved(kHome, site, bytes, sent, arrived);
  }
  /// The same from one site to another, which logs in first: what took a moment says nothing.
  void moved(SiteId from, SiteId to, double bytes, TimePoint sent, TimePoint arrived);

  /// Seconds for a cost of 1; nothing before the first observation.
  [[nodiscard]] std::optional<double> pace(HostId host) const;
  /// Bytes a second, latency included; nothing before the first observation.
  [[nodiscard]] std::optional<double> bandwidth(SiteId site) const {
    return bandwidth(kHome, site);
  }
  [[nodiscard]] std::optional<double> bandwidth(SiteId from, SiteId to) const;

  /// How it came to that, for people: of seconds for a cost of 1, and of seconds a byte. nullptr
  /// before the first observation.
  [[nodiscard]] const Series* paces(HostId host) const;
  [[nodiscard]] const Series* byte_times(SiteId site) const;

 private:
  struct Link {
    Rate rate;
    TimePoint last_arrival{};
  };

  std::map<HostId, Rate> hosts_;
  std::map<std::pair<SiteId, SiteId>, Link> links_;
};

}  // namespace gantry::forecast
