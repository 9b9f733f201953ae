#include "simulate/quality.hpp"

#include <algorithm>
#include <cassert>
#include <utility>
#include <vector>

#include "simulate/draws.hpp"

namespace gantry::simulate {

namespace {

using schedule::Estimates;
using schedule::Seconds;

/// So much above the fastest, that rounding does not contradict it.
constexpr double kAboveRounding = 1 + 1e-9;

/// One factor for each host and one for each link.
class ScaledEstimates final : public Estimates {
 public:
  ScaledEstimates(std::unique_ptr<Estimates> exact, std::vector<double> hosts,
                  std::vector<double> sites)
      : exact_(std::move(exact)), hosts_(std::move(hosts)), sites_(std::move(sites)) {}

  [[nodiscard]] Seconds computed(std::uint32_t host, Seconds from, double work) const override {
    return std::max(exact_->computed(host, from, work * hosts_[host]), from + work / fastest(host));
  }
  [[nodiscard]] Seconds moved(std::uint32_t site, Seconds from, double bytes,
                              bool outbound) const override {
    return exact_->moved(site, from, bytes * sites_[site], outbound);
  }
  void moved_each(std::uint32_t site, std::span<const Seconds> starts, double bytes, bool outbound,
                  std::span<Seconds> arrivals) const override {
    exact_->moved_each(site, starts, bytes * sites_[site], outbound, arrivals);
  }
  void computed_each(std::uint32_t host, Seconds from, std::span<const double> works,
                     std::span<Seconds> ends) const override {
    scaled_.assign(works.begin(), works.end());
    for (double& work : scaled_) work *= hosts_[host];
    exact_->computed_each(host, from, scaled_, ends);
    const double top = fastest(host);
    for (std::size_t i = 0; i < works.size(); ++i)
      ends[i] = std::max(ends[i], from + works[i] / top);
  }
  [[nodiscard]] double fastest(std::uint32_t host) const override {
    return exact_->fastest(host) / hosts_[host] * kAboveRounding;
  }

 private:
  std::unique_ptr<Estimates> exact_;
  std::vector<double> hosts_;
  std::vector<double> sites_;
  mutable std::vector<double> scaled_;  ///< kept for its memory alone
};

class QualitySource final : public schedule::EstimateSource {
 public:
  QualitySource(std::shared_ptr<const EstimateSource> exact, const QualityOptions& options)
      : exact_(std::move(exact)), options_(options) {}

  [[nodiscard]] std::unique_ptr<Estimates> at(const schedule::World& world,
                                              std::span<const gantry::Host* const> slots,
                                              std::span<const SiteId> sites) const override {
    const std::uint64_t event =
        mixed(mixed(options_.seed) ^ static_cast<std::uint64_t>(to_ns(world.now)));
    // By ids, not by the planner's numbers: these change as hosts come and go.
    std::vector<double> of_hosts;
    for (const gantry::Host* host : slots)
      of_hosts.push_back(factor(event ^ (2 * std::uint64_t{host->id.value()})));
    std::vector<double> of_sites;
    for (const SiteId site : sites)
      of_sites.push_back(factor(event ^ (2 * std::uint64_t{site.value()} + 1)));
    return std::make_unique<ScaledEstimates>(exact_->at(world, slots, sites), std::move(of_hosts),
                                             std::move(of_sites));
  }

 private:
  [[nodiscard]] double factor(std::uint64_t key) const {
    const double drawn = 1 + options_.error * (2 * unit_of(mixed(mixed(key))) - 1);
    return std::max(drawn, kLeastFactor);
  }

  std::shared_ptr<const EstimateSource> exact_;
  QualityOptions options_;
};

}  // namespace

std::shared_ptr<const schedule::EstimateSource> with_quality(
    std::shared_ptr<const schedule::EstimateSource> exact, const QualityOptions& options) {
  assert(options.error >= 0 && options.error <= 1);
  if (options.kind == ErrorKind::none || options.error == 0) return exact;
  return std::make_shared<QualitySource>(std::move(exact), options);
}

}  // namespace gantry::simulate
