#include "schedule/gantt/plan_basis.hpp"

#include <algorithm>

namespace gantry::schedule {

namespace {

/// By so much forecasts change without anything having happened.
constexpr double kNoise = 1.4;
constexpr double kManyHosts = 0.1;

bool is_other(double then, double now) {
  return std::max(then, now) > kNoise * std::min(then, now);
}

}  // namespace

bool is_overturned(const Beliefs& then, const Beliefs& now) {
  double all = 0;
  double other = 0;
  for (const auto& [host, speed] : now.speeds) {
    const auto before = then.speeds.find(host);
    if (before == then.speeds.end()) continue;
    const double weight = std::max(speed, before->second);
    all += weight;
    if (is_other(before->second, speed)) other += weight;
  }
  if (other > kManyHosts * all) return true;
  return std::ranges::any_of(now.bandwidths, [&](const auto& link) {
    const auto before = then.bandwidths.find(link.first);
    return before != then.bandwidths.end() && is_other(before->second, link.second);
  });
}

void PlanBasis::remember(const World& world, const EstimateSource& estimates) {
  beliefs_ = estimates.beliefs(world);
  looked_at_ = world.now;
}

bool PlanBasis::is_outdated(const World& world, const EstimateSource& estimates, Seconds pause) {
  if (beliefs_.speeds.empty() || pause == kInfinite || world.now < looked_at_ + from_seconds(pause))
    return false;
  looked_at_ = world.now;
  return is_overturned(beliefs_, estimates.beliefs(world));
}

}  // namespace gantry::schedule
