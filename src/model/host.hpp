#pragma once
/// A machine that runs tasks, as its agent described it.

#include <cstdint>
#include <string>
#include <vector>

#include "base/time.hpp"
#include "model/ids.hpp"

namespace gantry {

/// No task that needs this much or more can run on the host, whatever else it has.
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
  /// Of a host that is lent: for how long tasks may use it, and until when. 0 and never: for good.
  Duration lent_for{0};
  TimePoint until = kNever;
  std::vector<Refusal> refusals{};  ///< mostly none: of a batch system that has no such node
};

/// What is known of a host at the moment, for people who watch.
enum class HostCondition : std::uint8_t {
  up,
  connecting,  ///< for the first time
  lost,        ///< it could not be reached, or cannot any more; it is tried again
  queued,      ///< its job waits in the queue of a batch system
  suspended,   ///< its job was stopped by the batch system, and may go on one day
  away,        ///< it has no job at present
};

}  // namespace gantry
