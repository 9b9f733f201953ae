#pragma once
/// Chooses which link to probe now: one that has carried no files for a while and will carry some.
/// Also judges whether an answer says something about the link. Owned by the Hub; one thread.

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>

#include "actuate/glance.hpp"
#include "base/time.hpp"
#include "forecast/grid_forecast.hpp"
#include "forecast/link_probe.hpp"
#include "model/grid.hpp"

namespace gantry::driver {

/// The declared bandwidth from home to the site, in bytes a second. `grid` may be nullptr.
[[nodiscard]] std::optional<double> declared_bandwidth(const Grid* grid, SiteId site);

class LinkProbes {
 public:
  /// How long to wait for an answer.
  static constexpr Duration kPatience = std::chrono::seconds(10);
  /// If the loop looks for the answer less often than this, it measures itself and not the link.
  static constexpr Duration kLongestGap = std::chrono::milliseconds(10);

  /// Will files go to the site, or come from there?
  using MayMoveFiles = std::function<bool(SiteId)>;

  struct Probe {
    SiteId site;
    std::uint64_t bytes = 0;
  };
  /// The probe to send now, if any. Only one is under way at a time, because all links share
  /// home's, and none is sent while any link carries files. Call it about once a second. The probe
  /// counts as sent unless not_sent() follows. `grid` may be nullptr.
  std::optional<Probe> due(std::span<const SiteGlance> sites, const forecast::GridForecast& seen,
                           const MayMoveFiles& may_move_files, const Grid* grid, TimePoint now);
  /// The probe could not be sent: the link is tried again later, others come first.
  void not_sent() { out_.reset(); }
  /// A probe of the site was answered. Returns whether the answer counts.
  bool answered(SiteId site, TimePoint now);
  /// Files have begun to move.
  void on_file() { disturbed_ = true; }
  /// The loop looks for answers now, after other work; or it has waited for them until now.
  void on_look(TimePoint now) {
    longest_gap_ = std::max(longest_gap_, now - looked_at_);
    looked_at_ = now;
  }
  void on_waited(TimePoint now) { looked_at_ = now; }

 private:
  struct Link {
    std::uint64_t sent = 0;  ///< bytes that the link had carried when last checked
    std::uint64_t received = 0;
    TimePoint silent_since = kNever;
    TimePoint asked = kNever;
    Duration out{};     ///< how long the last probe was under way
    bool lost = false;  ///< the last probe was not answered, or its answer did not count
  };
  /// The link carries no files at the moment.
  [[nodiscard]] static bool is_quiet(Link& link, const SiteGlance& site, TimePoint now);
  [[nodiscard]] bool is_under_way(TimePoint now);

  std::map<SiteId, Link> links_;
  std::optional<SiteId> out_;  ///< whose answer is awaited
  bool disturbed_ = false;     ///< files moved since the probe was sent
  Duration longest_gap_{};     ///< between two looks since the probe was sent
  TimePoint looked_at_{};
};

}  // namespace gantry::driver
