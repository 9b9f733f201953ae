#include "schedule/packing.hpp"

#include <algorithm>

namespace gantry::schedule {

namespace {
constexpr std::uint32_t kMaxAhead = 2000;
constexpr Duration kAheadTime = std::chrono::milliseconds(100);
/// Tasks that take so long lose nothing by being handed over one at a time, and are better kept for
/// whichever host is free first.
constexpr Duration kLong = std::chrono::seconds(10);
}  // namespace

std::uint32_t slots(const Host& host, const Resources& resources) {
  if (!host.refusals.empty() && refusal_of(host, resources) != nullptr) return 0;
  const std::uint32_t by_cores = host.cores / std::max(resources.cores, 1U);
  if (resources.memory == 0) return by_cores;
  return static_cast<std::uint32_t>(
      std::min<std::uint64_t>(by_cores, host.memory / resources.memory));
}

bool is_in_time(const Host& host, const Resources& resources, std::optional<Duration> expected,
                TimePoint now) {
  if (host.until == kNever) return true;
  const Duration left = host.until - now;
  if (resources.walltime > Duration{0}) return resources.walltime <= left;
  // A host that has just been lent has a little less than all of it.
  const bool ever = expected && *expected <= host.lent_for / 10 * 9;
  return !ever || *expected <= left;
}

Load share(const Host& host, const Resources& resources) {
  return kFull / slots(host, resources);
}

std::uint32_t queue_ahead(std::uint32_t slots, std::optional<Duration> mean_run_time) {
  if (!mean_run_time) return slots;
  if (*mean_run_time >= kLong) return 0;
  const std::uint32_t least = std::max(slots, 2U);
  const auto ns = std::max<std::int64_t>(mean_run_time->count(), 1);
  const auto wanted = static_cast<std::uint64_t>(slots * kAheadTime.count() / ns);
  return std::max(least, static_cast<std::uint32_t>(std::min<std::uint64_t>(wanted, kMaxAhead)));
}

bool admits(const Host& host, Load load, const Resources& resources,
            std::optional<Duration> mean_run_time) {
  const std::uint32_t fit = slots(host, resources);
  if (fit == 0) return false;
  const Load one = kFull / fit;
  return load + one <= kFull + queue_ahead(fit, mean_run_time) * one;
}

bool is_free(const Host& host, Load load, const Resources& resources) {
  const std::uint32_t fit = slots(host, resources);
  return fit != 0 && load + kFull / fit <= kFull;
}

}  // namespace gantry::schedule
