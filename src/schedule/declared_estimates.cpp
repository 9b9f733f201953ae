#include "schedule/declared_estimates.hpp"

#include "schedule/steady_estimates.hpp"

namespace gantry::schedule {

std::unique_ptr<Estimates> DeclaredEstimates::at(const World& world,
                                                 std::span<const Host* const> slots,
                                                 std::span<const SiteId> sites) const {
  const auto unit = world.run_times.expected(1);
  const double seconds_each = unit && *unit > Duration{0} ? seconds(*unit) : 1;
  auto estimates = std::make_unique<SteadyEstimates>();
  for (const Host* host : slots) estimates->speeds.push_back(host->speed / seconds_each);
  estimates->links.assign(sites.size(), {.latency = 0, .bandwidth = kNever});
  return estimates;
}

}  // namespace gantry::schedule
