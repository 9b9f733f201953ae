#pragma once
/// Which link of a run is to be probed now: one that carried no files for a while, and will. Also
/// whether the answer says something of the link. Owned by the session; one thread.

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

/// From home to the site, in bytes a second: as a person has said. `grid` may be nullptr.
[[nodiscard]] std::optional<double> declared_bandwidth(const Grid* grid, SiteId site);

class LinkProbes {
 public:
  /// An answer that comes later is not waited for.
  static constexpr Duration kPatience = std::chrono::seconds(10);
  /// Whoever looks for an answer less often measures himself.
  static constexpr Duration kLongestGap = std::chrono::milliseconds(10);

  /// Will files go to the site, or come from there?
  using MayMoveFiles = std::function<bool(SiteId)>;

  struct Probe {
    SiteId site;
    std::uint64_t bytes = 0;
  };
  /// What to send now: one at a time in the whole run, because links share home's, and none while
  /// any of them carries files. To be asked about once a second. What it says is taken as sent
  /// unless not_sent() follows. `grid` may be nullptr.
  std::optional<Probe> due(std::span<const SiteGlance> sites, const forecast::GridForecast& seen,
                           const MayMoveFiles& may_move_files, const Grid* grid, TimePoint now);
  /// Nobody there could be asked: the link has its turn later, others meanwhile.
  void not_sent() { out_.reset(); }
  /// A probe of the site was answered: whether that counts.
  bool answered(SiteId site, TimePoint now);
  /// Files set out.
  void on_file() { disturbed_ = true; }
  /// Somebody looks for answers now, after other work; or waited for them until now.
  void on_look(TimePoint now) {
    longest_gap_ = std::max(longest_gap_, now - looked_at_);
    looked_at_ = now;
  }
  void on_waited(TimePoint now) { looked_at_ = now; }

 private:
  struct Link {
    std::uint64_t sent = 0;  ///< bytes, when it was looked at last
    std::uint64_t received = 0;
    TimePoint silent_since = kNever;
    TimePoint asked = kNever;
    Duration out{};     ///< the last one was under way for so long
    bool lost = false;  ///< it was not answered, or that did not count
  };
  /// It carries no files at the moment.
  [[nodiscard]] static bool is_quiet(Link& link, const SiteGlance& site, TimePoint now);
  [[nodiscard]] bool is_under_way(TimePoint now);

  std::map<SiteId, Link> links_;
  std::optional<SiteId> out_;  ///< whose answer is awaited
  bool disturbed_ = false;     ///< since it was sent
  Duration longest_gap_{};     ///< since then
  TimePoint looked_at_{};
};

}  // namespace gantry::driver
