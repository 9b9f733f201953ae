#pragma once
/// What the person said of the hosts, and how long tasks have taken so far. Links are thought to
/// take no time: nothing is known of them here.

#include "schedule/estimate_source.hpp"

namespace gantry::schedule {

class DeclaredEstimates final : public EstimateSource {
 public:
  [[nodiscard]] std::unique_ptr<Estimates> at(const World& world,
                                              std::span<const Host* const> slots,
                                              std::span<const SiteId> sites) const override;
};

}  // namespace gantry::schedule
