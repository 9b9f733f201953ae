#pragma once
/// The present state of hosts and links, for people who watch. No decision depends on it. Plain
/// values.

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
  /// What it has left, and when it last reported that; kNever if it did not.
  TimePoint told = kNever;
  double free_cores = 0;
  std::uint64_t free_memory = 0;
  std::uint64_t free_disk = 0;
};

/// A file on its way to a site.
struct SendGlance {
  std::string path{};  ///< path here; empty: no file is being sent
  std::uint64_t done = 0;
  std::uint64_t bytes = 0;
};

struct SiteGlance {
  SiteId id;
  std::string name{};
  std::uint64_t sent = 0;      ///< bytes sent over the link since it was first up
  std::uint64_t received = 0;  ///< bytes of files that came home
  std::uint64_t pulled = 0;    ///< bytes of files that came to it from sites other than home
  std::uint32_t to_send = 0;   ///< files that are being sent to it, or wait to be
  SendGlance sending{};        ///< the large file being sent
};

struct Glance {
  std::vector<HostGlance> hosts;
  std::vector<SiteGlance> sites;
};

}  // namespace gantry
