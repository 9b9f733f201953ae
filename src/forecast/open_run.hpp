#pragma once
/// What is left of a run, and who does it: what an ETA is calculated from. Plain values.

#include <cstdint>
#include <optional>
#include <vector>

#include "base/time.hpp"
#include "model/ids.hpp"

namespace gantry::forecast {

/// A host that is up.
struct OpenHost {
  HostId id;
  double speed = 1;         ///< as declared
  std::uint32_t slots = 0;  ///< for tasks of the usual kind; 0: it gets nothing more
};

/// An attempt that a host was given and that has not ended. Of two attempts of a task, one counts.
struct OpenAttempt {
  std::size_t host = 0;  ///< OpenRun::hosts
  double cost = 1;
  TimePoint started = kNever;     ///< or never: it waits
  std::optional<double> begun{};  ///< GridForecast::work_done() when it started
};

/// A job in the queue of a batch system, which will be a host.
struct ComingHost {
  HostId id;
  SiteId site;
  double speed = 1;
  std::uint32_t slots = 0;
  TimePoint since{};
};

struct OpenRun {
  std::vector<OpenHost> hosts{};
  std::vector<OpenAttempt> attempts{};  ///< by host
  std::vector<ComingHost> coming{};     ///< where no host that is up takes tasks
  std::uint32_t total = 0;              ///< tasks
  std::uint32_t ended = 0;              ///< of them
  std::uint64_t to_start = 0;           ///< tasks that no host was given
  double cost_to_start = 0;             ///< of all of them; an estimate
  std::uint32_t next_index = 0;         ///< later tasks have not been looked at
  double share = 1;                     ///< the part of the grid that it may count on
  TimePoint planned_end = kNever;       ///< by the strategy's plan; never: it has told none
  bool planned_blindly = false;         ///< when nothing was known of how long tasks take
  TimePoint last_retry = kNever;        ///< when the last back-off ends; never: none goes on
  bool moves_waiting = false;           ///< what waits at a host may be given to another
};

}  // namespace gantry::forecast
