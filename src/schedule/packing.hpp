#pragma once
/// How tasks are packed on a host: how many run there at once, and how many more its agent may hold
/// in its queue so that the next task is at hand the moment one ends. Pure functions, integers
/// only.

#include <algorithm>
#include <cstdint>
#include <optional>

#include "base/time.hpp"
#include "model/host.hpp"
#include "model/task.hpp"

namespace gantry::schedule {

/// The part of a host that tasks take up, in units that make kFull the whole host. A host that was
/// handed more than it can run at once has a load above kFull.
using Load = std::uint64_t;
inline constexpr Load kFull = Load{1} << 32;

/// Why the host has no place for such a task, though it has room; mostly nullptr.
[[nodiscard]] inline const Refusal* refusal_of(const Host& host, const Resources& resources) {
  for (const Refusal& refusal : host.refusals)
    if (std::max(resources.cores, 1U) >= refusal.cores && resources.memory >= refusal.memory)
      return &refusal;
  return nullptr;
}

/// How many tasks with these resources run on the host at once; 0 when not even one fits.
[[nodiscard]] std::uint32_t slots(const Host& host, const Resources& resources);

/// Is the host lent for as long as such a task takes?
[[nodiscard]] inline bool is_lent_long_enough(const Host& host, const Resources& resources) {
  return host.lent_for == Duration{0} || resources.walltime <= host.lent_for;
}

/// Is so much of the host's time left? What the task declares counts, else what it is expected to
/// take; but not if no host that is lent for so long would ever get it then.
[[nodiscard]] bool is_in_time(const Host& host, const Resources& resources,
                              std::optional<Duration> expected, TimePoint now);

/// What one such task adds to the load. REQUIRES: slots(host, resources) > 0.
[[nodiscard]] Load share(const Host& host, const Resources& resources);

/// How many tasks a host with so many slots may hold beyond what runs: what it works off in a tenth
/// of a second, so that gantry may sleep and batch meanwhile, but at least one a slot (and two),
/// and never thousands. Of long tasks none.
[[nodiscard]] std::uint32_t queue_ahead(std::uint32_t slots, std::optional<Duration> mean_run_time);

/// May the host, loaded like this, be handed one more such task?
[[nodiscard]] bool admits(const Host& host, Load load, const Resources& resources,
                          std::optional<Duration> mean_run_time);

/// The host has room for one more such task now, nothing handed over ahead.
[[nodiscard]] bool is_free(const Host& host, Load load, const Resources& resources);

}  // namespace gantry::schedule
