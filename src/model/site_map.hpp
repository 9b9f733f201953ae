#pragma once
/// What is declared of the sites, besides their hosts. A plain value; an empty one says that depots
/// have no limit, and that files come from home.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "model/ids.hpp"

namespace gantry {

/// How files get from one site to another, and back. What a way really does may change.
struct Way {
  SiteId one = kHome;  ///< home, if it is one of the two
  SiteId other;
  double bandwidth = 1;  ///< bytes a second
  double latency = 0;    ///< seconds
  std::uint32_t streams = 1;
  bool forth = true;  ///< from the one to the other
  bool back = true;   ///< from the other to the one

  [[nodiscard]] bool carries(SiteId from, SiteId to) const {
    return (one == from && other == to && forth) || (one == to && other == from && back);
  }
};

struct SiteMap {
  /// Bytes that the depots may hold, by site; those that are not listed have no limit. Home has
  /// none.
  std::vector<double> depots{};
  /// Two sites have one at most. Without any, files come from home alone.
  std::vector<Way> ways{};
  /// What is declared of ways between sites is believed until they have proved to be slow.
  bool learns = false;

  /// nullptr when there is none that carries files in this direction.
  [[nodiscard]] const Way* way(SiteId from, SiteId to) const {
    for (const Way& way : ways)
      if (way.carries(from, to)) return &way;
    return nullptr;
  }
  void limit_depot(SiteId site, double bytes) {
    if (site.value() >= depots.size())
      depots.resize(site.value() + 1, std::numeric_limits<double>::infinity());
    depots[site.value()] = bytes;
  }
  /// Nothing goes over it in this direction any more.
  void close_way(SiteId from, SiteId to) {
    for (Way& way : ways) {
      if (way.one == from && way.other == to) way.forth = false;
      if (way.one == to && way.other == from) way.back = false;
    }
  }
  [[nodiscard]] double depot(SiteId site) const {
    const std::size_t index = site.value();
    return site == kHome || index >= depots.size() ? std::numeric_limits<double>::infinity()
                                                   : depots[index];
  }
};

}  // namespace gantry
