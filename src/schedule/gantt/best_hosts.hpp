#pragma once
/// For tasks of some works, all else equal: the hosts of each site on which they are complete
/// first, and when. Found out for one site at a time, when it is asked for. Owned by a slice, or
/// shared by several.

#include <array>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "schedule/gantt/drawing.hpp"
#include "schedule/gantt/site_hosts.hpp"
#include "schedule/planning.hpp"

namespace gantry::schedule {

class BestHosts {
 public:
  /// `works` ascend; `like`: a class with the same output as all.
  BestHosts(const Drawing& drawing, std::vector<double> works, const TaskClass& like);

  [[nodiscard]] const std::vector<double>& works() const { return works_; }

  /// Finds out what is so now at the site, for tasks that may start there at `from`; `two`: on the
  /// second-best hosts, too.
  void find(const Drawing& drawing, std::uint32_t site, Seconds from, bool two);
  /// HostsBySite::version() of the site when that was done; 0: never.
  [[nodiscard]] std::uint32_t version(std::uint32_t site) const { return sites_[site].version; }

  /// By work: completions on the best and the second-best hosts.
  [[nodiscard]] std::span<const Seconds> returned(std::uint32_t site) const {
    return sites_[site].returned;
  }
  [[nodiscard]] std::span<const Seconds> runner_up(std::uint32_t site) const {
    return sites_[site].runner_up;
  }
  /// On the best host. REQUIRES: it is complete there some time.
  [[nodiscard]] Completion completion(std::uint32_t site, std::size_t work) const {
    const AtSite& at = sites_[site];
    return {at.returned[work], at.best.first_ends()[work], at.best.first_rank(work)};
  }

  /// From now on these works; what was known is forgotten.
  void replace(std::vector<double> works);

 private:
  struct Row {
    Seconds start = kInfinite;  ///< that the ends are for
    std::uint32_t asked = 0;    ///< in which call of find()
  };
  struct AtSite {
    std::uint32_t version = 0;
    BestEnds best{};
    std::vector<Seconds> returned{};
    std::vector<Seconds> runner_up{};
    /// Ends of a medium work on hosts, as places at the site, that were good last time.
    std::array<std::pair<Seconds, std::uint32_t>, 4> likely{};
    std::size_t likely_count = 0;
    /// By place: what the estimates said last. Empty until the site is looked at.
    std::vector<Row> rows{};
    std::vector<Seconds> ends{};  ///< of each row and work
  };

  void ask(const Drawing& drawing, std::uint32_t site, std::size_t place, Seconds start);
  void ask_likely(const Drawing& drawing, std::uint32_t site, Seconds from);
  void remember(AtSite& at, std::uint32_t place, Seconds end);

  const TaskClass* like_;
  std::vector<double> works_;
  std::vector<AtSite> sites_;
  std::uint32_t calls_ = 0;
};

}  // namespace gantry::schedule
