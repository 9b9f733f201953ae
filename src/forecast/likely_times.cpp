#include "forecast/likely_times.hpp"

#include <algorithm>
#include <numeric>

#include "base/chance.hpp"

namespace gantry::forecast {

namespace {
/// On more hosts, what was seen on some of them tells how run times differ.
constexpr std::size_t kHostsAsked = 128;
}  // namespace

std::optional<LikelyTimes> likely_times(const TimeBook& times, std::span<const OpenHost> hosts) {
  const auto& samples = times.samples();
  if (samples.empty()) return std::nullopt;
  // One lookup a host: there may be thousands.
  std::vector<const RunTimeSample*> there;
  HostPaces paces;
  for (const OpenHost& host : hosts) {
    const auto sample = samples.find(host.id);
    there.push_back(sample != samples.end() ? &sample->second.times : nullptr);
    if (there.back() != nullptr) paces.add(*there.back(), host.speed);
  }
  paces.settle();
  LikelyTimes likely;
  const std::size_t each = std::max<std::size_t>(RunTimeSample::kMost / samples.size(), 1);
  const std::size_t step = samples.size() / kHostsAsked + 1;
  std::size_t nth = 0;
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    HostPace pace = paces.of(there[i], hosts[i].speed);
    // By chance: each eighth may be of the same site, or of the same speed.
    if (there[i] != nullptr && mixed(nth++) % step == 0)
      for (const double time : there[i]->last(each)) likely.seen.push_back(time / pace.times);
    // What was seen is as if the host were as loaded as when it first told.
    pace.times /= times.seen().speed(hosts[i].id);
    likely.paces.push_back(pace);
  }
  // What was seen on the last host that went away, if there is nothing else.
  if (likely.seen.empty()) {
    const HostSample& last = samples.begin()->second;
    for (const double time : last.times.last(each))
      likely.seen.push_back(time * usable_cost(last.speed));
  }
  likely.mean = std::accumulate(likely.seen.begin(), likely.seen.end(), 0.0) /
                static_cast<double>(likely.seen.size());
  return likely;
}

}  // namespace gantry::forecast
