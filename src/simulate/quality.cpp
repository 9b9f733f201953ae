#include "simulate/quality.hpp"

#include <algorithm>
#include <bit>
#include <cassert>
#include <utility>
#include <vector>

#include "simulate/draws.hpp"
#include "simulate/wrong_clock.hpp"

namespace gantry::simulate {

namespace {

using schedule::Estimates;
using schedule::Seconds;

/// So much above the fastest, that rounding does not contradict it.
constexpr double kAboveRounding = 1 + 1e-9;

/// What the error of a resource is drawn from, and for each amount another one, if it has to be.
struct ErrorSource {
  std::uint64_t key = 0;
  double error = 0;

  [[nodiscard]] double factor(std::uint64_t more = 0) const {
    const double drawn = 1 + error * (2 * unit_of(mixed(key ^ more)) - 1);
    return std::max(drawn, kLeastFactor);
  }
  [[nodiscard]] double factor_of(double amount) const {
    return factor(mixed(std::bit_cast<std::uint64_t>(amount)));
  }
};

struct ErrorSources {
  std::vector<ErrorSource> hosts;
  std::vector<ErrorSource> sites;
};

/// One factor for each resource.
class ScaledEstimates final : public Estimates {
 public:
  ScaledEstimates(std::unique_ptr<Estimates> exact, const ErrorSources& errors)
      : exact_(std::move(exact)) {
    for (const ErrorSource& host : errors.hosts) hosts_.push_back(host.factor());
    for (const ErrorSource& site : errors.sites) sites_.push_back(site.factor());
  }

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

/// One factor for each resource and amount.
class VariedEstimates final : public Estimates {
 public:
  VariedEstimates(std::unique_ptr<Estimates> exact, ErrorSources errors, double error)
      : exact_(std::move(exact)),
        errors_(std::move(errors)),
        least_(std::max(1 - error, kLeastFactor)) {}

  [[nodiscard]] Seconds computed(std::uint32_t host, Seconds from, double work) const override {
    const double factor = errors_.hosts[host].factor_of(work);
    return std::max(exact_->computed(host, from, work * factor), from + work / fastest(host));
  }
  [[nodiscard]] Seconds moved(std::uint32_t site, Seconds from, double bytes,
                              bool outbound) const override {
    const double factor = errors_.sites[site].factor_of(bytes);
    return exact_->moved(site, from, bytes * factor, outbound);
  }
  void moved_each(std::uint32_t site, std::span<const Seconds> starts, double bytes, bool outbound,
                  std::span<Seconds> arrivals) const override {
    const double factor = errors_.sites[site].factor_of(bytes);
    exact_->moved_each(site, starts, bytes * factor, outbound, arrivals);
  }
  [[nodiscard]] double fastest(std::uint32_t host) const override {
    return exact_->fastest(host) / least_ * kAboveRounding;
  }

 private:
  std::unique_ptr<Estimates> exact_;
  ErrorSources errors_;
  double least_;
};

/// The resource does what it does, but by a clock that runs wrong.
class DecayingEstimates final : public Estimates {
 public:
  DecayingEstimates(std::unique_ptr<Estimates> exact, const ErrorSources& errors, double half_ahead)
      : exact_(std::move(exact)) {
    for (const ErrorSource& host : errors.hosts) hosts_.emplace_back(host.factor(), half_ahead);
    for (const ErrorSource& site : errors.sites) sites_.emplace_back(site.factor(), half_ahead);
  }

  [[nodiscard]] Seconds computed(std::uint32_t host, Seconds from, double work) const override {
    const WrongClock& clock = hosts_[host];
    const Seconds end = clock.shown(exact_->computed(host, clock.truly(from), work));
    return std::max(end, from + work / fastest(host));
  }
  [[nodiscard]] Seconds moved(std::uint32_t site, Seconds from, double bytes,
                              bool outbound) const override {
    const WrongClock& clock = sites_[site];
    return std::max(clock.shown(exact_->moved(site, clock.truly(from), bytes, outbound)), from);
  }
  [[nodiscard]] double fastest(std::uint32_t host) const override {
    return exact_->fastest(host) / hosts_[host].slowest() * kAboveRounding;
  }

 private:
  std::unique_ptr<Estimates> exact_;
  std::vector<WrongClock> hosts_;
  std::vector<WrongClock> sites_;
};

class QualitySource final : public schedule::EstimateSource {
 public:
  QualitySource(std::shared_ptr<const EstimateSource> exact, const QualityOptions& options)
      : exact_(std::move(exact)), options_(options) {}

  [[nodiscard]] std::unique_ptr<Estimates> at(const schedule::World& world,
                                              std::span<const gantry::Host* const> slots,
                                              std::span<const SiteId> sites) const override {
    auto exact = exact_->at(world, slots, sites);
    auto errors = sources(world, slots, sites);
    if (options_.kind == ErrorKind::decaying)
      return std::make_unique<DecayingEstimates>(std::move(exact), errors, options_.half_ahead);
    if (options_.kind == ErrorKind::uniform && options_.holds == ErrorHolds::for_the_estimate)
      return std::make_unique<VariedEstimates>(std::move(exact), std::move(errors), options_.error);
    return std::make_unique<ScaledEstimates>(std::move(exact), errors);
  }

 private:
  /// By ids, not by the planner's numbers: these change as hosts come and go.
  [[nodiscard]] ErrorSources sources(const schedule::World& world,
                                     std::span<const gantry::Host* const> slots,
                                     std::span<const SiteId> sites) const {
    const bool biased = options_.kind == ErrorKind::biased;
    const bool for_good = biased || options_.holds == ErrorHolds::for_good;
    const auto moment = for_good ? 0 : static_cast<std::uint64_t>(to_ns(world.now));
    const std::uint64_t event = mixed(mixed(options_.seed) ^ moment);
    ErrorSources result;
    for (const gantry::Host* host : slots)
      result.hosts.push_back(
          {mixed(event ^ (2 * std::uint64_t{host->id.value()})), options_.error});
    for (const SiteId site : sites)
      result.sites.push_back(
          {mixed(event ^ (2 * std::uint64_t{site.value()} + 1)), biased ? 0 : options_.error});
    return result;
  }

  std::shared_ptr<const EstimateSource> exact_;
  QualityOptions options_;
};

}  // namespace

std::shared_ptr<const schedule::EstimateSource> with_quality(
    std::shared_ptr<const schedule::EstimateSource> exact, const QualityOptions& options) {
  assert(options.error >= 0 && options.error <= 1 && options.half_ahead > 0);
  if (options.kind == ErrorKind::none || options.error == 0) return exact;
  return std::make_shared<QualitySource>(std::move(exact), options);
}

}  // namespace gantry::simulate
