#pragma once
/// What runs and transfers have shown so far, and until then what the person said of the grid.

#include <vector>

#include "schedule/estimate_source.hpp"
#include "schedule/steady_estimates.hpp"

namespace gantry::schedule {

/// What is believed of a grid before anything has run there.
struct GridPriors {
  std::vector<double> speeds{};                ///< by host, from host 1 on; others: as declared
  std::vector<SteadyEstimates::Link> links{};  ///< by site; others: as declared, or no time
};

class LearnedEstimates final : public EstimateSource {
 public:
  explicit LearnedEstimates(GridPriors priors = {}) : priors_(std::move(priors)) {}

  [[nodiscard]] std::unique_ptr<Estimates> at(const World& world,
                                              std::span<const Host* const> slots,
                                              std::span<const SiteId> sites) const override;
  [[nodiscard]] Beliefs beliefs(const World& world) const override;

 private:
  [[nodiscard]] SteadyEstimates estimates(const World& world, std::span<const Host* const> slots,
                                          std::span<const SiteId> sites) const;
  [[nodiscard]] double prior_speed(const Host& host) const;
  [[nodiscard]] SteadyEstimates::Link prior_link(const World& world, SiteId site) const;

  GridPriors priors_;
};

}  // namespace gantry::schedule
