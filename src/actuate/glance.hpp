#pragma once
/// What a launcher knows of its hosts and links at the moment, for people who watch. Nothing is
/// decided by it. Plain values.

#include <cstdint>
#include <string>
#include <vector>

#include "base/time.hpp"
#include "model/host.hpp"
#include "model/ids.hpp"

namespace gantry {

struct HostGlance {
  HostId id;
  SiteId site = kHome;
  std::string name{};
  HostCondition condition = HostCondition::up;
  TimePoint since = kNever;  ///< lost: since when
  std::string why{};         ///< lost
  /// What it has left, when it told that last; never, if it did not.
  TimePoint told = kNever;
  double free_cores = 0;
  std::uint64_t free_memory = 0;
  std::uint64_t free_disk = 0;
};

/// A file on its way to a site.
struct SendGlance {
  std::string path{};  ///< here; empty: none
  std::uint64_t done = 0;
  std::uint64_t bytes = 0;
};

struct SiteGlance {
  SiteId id;
  std::string name{};
  std::uint64_t sent = 0;      ///< bytes that went over the link since it was first up
  std::uint64_t received = 0;  ///< of files that came home
  std::uint64_t pulled = 0;    ///< of files that came to it from other sites than home
  std::uint32_t to_send = 0;   ///< files that are on their way to it, or wait for that
  SendGlance sending{};        ///< the large one among them whose turn it is
};

struct Glance {
  std::vector<HostGlance> hosts;
  std::vector<SiteGlance> sites;
};

}  // namespace gantry
