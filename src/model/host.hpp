#pragma once
/// A machine that runs tasks, as its agent described it.

#include <cstdint>
#include <string>
#include <vector>

#include "base/time.hpp"
#include "model/ids.hpp"

namespace gantry {

/// No task that needs this much or more can run on the host.
struct Refusal {
  std::uint32_t cores = 0;
  std::uint64_t memory = 0;
  std::string why;
};

struct Host {
  HostId id;
  std::string name;
  std::uint32_t cores = 1;   ///< slots that may be used at once (-j)
  std::uint64_t memory = 0;  ///< bytes that declared memory is packed into
  SiteId site = kHome;
  double speed = 1;  ///< relative: work is divided by it
  /// For a lent host: how long tasks may use it, and until when. 0 and kNever: for good.
  Duration lent_for{0};
  TimePoint until = kNever;
  std::vector<Refusal> refusals{};  ///< usually none: needs for which a batch system has no node
};

/// The present condition of a host, for people who watch.
enum class HostCondition : std::uint8_t {
  up,
  connecting,  ///< for the first time
  lost,        ///< it cannot be reached, and is tried again
  queued,      ///< its job waits in the queue of a batch system
  suspended,   ///< the batch system has suspended its job, which may continue later
  away,        ///< it has no job at present
};

}  // namespace gantry
